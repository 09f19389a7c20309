//go:build unlogged

package app

import (
	"context"
	"time"

	"sluice/internal/background"
)

// unloggedInterval is about how long the request log waits for company of a record.
const unloggedInterval = 400 * time.Millisecond

// runIngest lets the journal forget its records instead of taking them over. It is for the
// benchmark alone (test/bench): what the request log costs is what a program costs beyond
// one that was built with the tag unlogged. Such a program has nothing on show of what it
// served; never serve with it.
func (a *App) runIngest(ctx context.Context) error {
	tail := a.journal.Tail()
	for {
		if err := a.records.Trim(tail.End()); err != nil {
			return err
		}
		if background.Sleep(ctx, unloggedInterval) != nil {
			return nil // it is to end
		}
	}
}
