package lease

import (
	"context"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// exclusivePause is the time between two attempts of RunExclusive to take the lease.
const exclusivePause = 200 * time.Millisecond

// RunExclusive runs work while it holds the lease name for at most ttl, and waits for the lease
// first. work may safely run twice: so it also runs while the database accepts no writes, and it
// continues when it outlasts the lease.
func RunExclusive(ctx context.Context, store Store, name string, ttl time.Duration, work func(context.Context) error) error {
	holder := ident.NewID()
	for {
		got, err := store.TakeLease(ctx, name, holder, ttl)
		if got || fault.Has(err, fault.ReadOnly) {
			break
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(exclusivePause):
		}
	}
	err := work(ctx)
	if release := store.ReleaseLease(context.WithoutCancel(ctx), name, holder); err == nil && !fault.Has(release, fault.ReadOnly) {
		err = release
	}
	return err
}
