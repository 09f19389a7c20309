package background

import (
	"context"
	"time"
)

// Sleep returns nil when d has passed, or the error of ctx if that ends first. It returns at
// once if d is not positive.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
