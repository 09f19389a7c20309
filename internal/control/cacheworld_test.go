package control_test

import (
	"context"

	"sluice/internal/domain/respcache"
)

// purger is a response cache with one entry: that of the model gpt-4o in the first workspace.
type purger struct{ workspace string }

// Purge implements configs.CachePurger.
func (p *purger) Purge(_ context.Context, f *respcache.Filter) (int, error) {
	if (f.Workspace == "" || f.Workspace == p.workspace) && (f.Model == "" || f.Model == "gpt-4o") {
		return 1, nil
	}
	return 0, nil
}
