package limits_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sluice/internal/control/limits"
	"sluice/internal/domain/record"
)

// endlessLogs has a further page behind every page.
type endlessLogs struct {
	limits.Logs
	page []record.Attempt
	err  error
}

func (l endlessLogs) List(context.Context, record.Query) (record.Page, error) {
	return record.Page{Rows: l.page, Next: record.CursorAt(time.Now(), "id")}, l.err
}

// TestDryRunEnds: however much traffic there is, a bounded part of it is looked at; what
// the gateway refused and what others recorded is none of it.
func TestDryRunEnds(t *testing.T) {
	t.Parallel()
	logs := endlessLogs{page: make([]record.Attempt, record.MaxLimit)}
	logs.page[0].Outcome, logs.page[1].Source = record.Refused, record.FromAPI
	n, truncated, err := limits.TryRates(t.Context(), logs)
	if want := 100 * (record.MaxLimit - 2); n != want || !truncated || err != nil {
		t.Errorf("%d attempts, not %d; truncated is %v: %v", n, want, truncated, err)
	}
	logs.err = errors.New("the log is away")
	if _, _, err := limits.TryRates(t.Context(), logs); !errors.Is(err, logs.err) {
		t.Error(err)
	}
}
