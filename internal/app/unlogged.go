//go:build unlogged

package app

import (
	"context"
	"time"

	"sluice/internal/kernel/background"
)

// unloggedInterval is about how long the request log waits to batch records.
const unloggedInterval = 400 * time.Millisecond

// runIngest makes the journal drop its records instead of storing them in the request log. It
// serves only the benchmark (test/bench), which compares this program with a normal one to
// measure the cost of the request log. This program shows nothing of what it served; never use it
// in production.
func (a *requestLog) runIngest(ctx context.Context) error {
	tail := a.journal.Tail()
	for {
		if err := a.records.Trim(tail.End()); err != nil {
			return err
		}
		if background.Sleep(ctx, unloggedInterval) != nil {
			return nil // ctx is done
		}
	}
}
