package jobs

import (
	"context"
	"time"
)

// Beat is how often each node looks.
const Beat = beat

// Short makes the lease so short that a test can wait for its end.
func (r *Runner) Short(ttl time.Duration) { r.ttl = ttl }

// Release gives the lease back as Run does at its end.
func (r *Runner) Release(ctx context.Context) { r.release(ctx) }
