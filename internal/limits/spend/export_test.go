package spend

import (
	"context"
	"time"
)

// CatchUp is one round of Run.
func (f *Consumer) CatchUp(ctx context.Context) error { return f.catchUp(ctx) }

// PauseAfter is how long sums wait behind a transaction that added to so many meters.
func (f *Consumer) PauseAfter(meters int) time.Duration {
	f.stored = meters
	return f.pause()
}
