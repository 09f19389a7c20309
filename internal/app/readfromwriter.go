package app

import (
	"context"
	"time"

	"sluice/internal/fault"
	"sluice/internal/resource"
)

// readFromWriter reads data that may have been written a moment ago. The reader may be a replica
// that lags, and at a first start it does not even have the tables. So readFromWriter reads from
// the writer, and from the reader only while the writer is down.
func readFromWriter(ctx context.Context, s resource.Store, read func(resource.Reader) error) error {
	err := s.InTx(ctx, func(tx resource.Tx) error { return read(tx) })
	if fault.Has(err, fault.ReadOnly) {
		return read(s)
	}
	return err
}

// Timing of a start that waits for a lagging replica.
const (
	lagLimit = 10 * time.Second
	lagPause = 100 * time.Millisecond
)

// retryUntil retries try, which needs the reader, until it succeeds or the time is up.
func retryUntil(ctx context.Context, try func(context.Context) error) error {
	ctx, stop := context.WithTimeout(ctx, lagLimit)
	defer stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lagPause):
		}
	}
}
