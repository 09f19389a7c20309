package control_test

import (
	"context"
	"log/slog"
	"time"

	"sluice/internal/app/trials"
	"sluice/internal/domain/respcache"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
)

// stopped is a clock that stands still.
type stopped time.Time

func (s stopped) Now() time.Time { return time.Time(s) }

// newTrials returns what runs the guardrails of tests and dry runs, at one time of the day.
func newTrials() *trials.Runner {
	clock := stopped(began)
	return trials.New(guardrails.NewCatalog(check.List()), check.Deps{Now: clock.Now}, clock, slog.New(slog.DiscardHandler))
}

// purger is a response cache with one entry: that of the model gpt-4o in the first workspace.
type purger struct{ workspace string }

// Purge implements configs.CachePurger.
func (p *purger) Purge(_ context.Context, f *respcache.Filter) (int, error) {
	if (f.Workspace == "" || f.Workspace == p.workspace) && (f.Model == "" || f.Model == "gpt-4o") {
		return 1, nil
	}
	return 0, nil
}
