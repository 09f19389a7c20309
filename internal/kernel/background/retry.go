package background

import (
	"context"
	"time"
)

// Retry calls try until it succeeds, for at most limit, and waits pause between two calls. Then,
// and when ctx ends, it returns the last error of try, whose context ends at the same time.
func Retry(ctx context.Context, limit, pause time.Duration, try func(context.Context) error) error {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for {
		err := try(ctx)
		if err == nil || Sleep(ctx, pause) != nil {
			return err
		}
	}
}
