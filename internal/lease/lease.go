// Package lease keeps what one node of many may do at a time: a lease, by its name, that a
// database hands to one holder until it is released or runs out by the database's clock.
package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sluice/internal/ident"
)

// Store hands leases out: *store.Store. Safe for concurrent use.
type Store interface {
	// TakeLease takes or renews the lease name ("worker") for ttl and reports whether holder
	// has it now.
	TakeLease(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
	// ReleaseLease gives it back; that somebody else holds it is no error.
	ReleaseLease(ctx context.Context, name, holder string) error
}

// Holder makes a name for a holder that no other one has, and by which people find the
// process: "node-7.internal, process 4321, 0193a4…".
func Holder() string {
	host, _ := os.Hostname() // empty where there is none
	host = host[:min(len(host), maxHostChars)]
	return fmt.Sprintf("%s, process %d, %s", cmp.Or(host, "unnamed host"), os.Getpid(), ident.NewID())
}

// maxHostChars bounds a host's name in that of a holder, which may have 255 characters.
const maxHostChars = 128

// ErrNotHolder is the cause with which the context of Keep ends when somebody else has the lease,
// or may have it soon.
var ErrNotHolder = errors.New("lease lost: another node has it, or the renewal timed out")

// Hold renews a lease that holder has, four times in its life, until stop is called, which
// waits for the last attempt and leaves the lease as it is. The context that it returns ends
// with ErrNotHolder as its cause when another holder has the lease, or when it could not be
// renewed for half its life: what it protects must then no longer be touched.
func Hold(ctx context.Context, store Store, name, holder string, ttl time.Duration) (held context.Context, stop func()) {
	held, fail := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		renew(held, fail, ttl, func() (bool, error) {
			ctx, cancel := context.WithTimeout(held, ttl/4) // who waits longer does not see that it is lost
			defer cancel()
			return store.TakeLease(ctx, name, holder, ttl)
		})
	}()
	return held, func() { fail(nil); <-done }
}

func renew(ctx context.Context, fail context.CancelCauseFunc, ttl time.Duration, take func() (bool, error)) {
	tick := time.NewTicker(ttl / 4)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		started := time.Now() // from when on at the latest the database counts
		acquired, err := take()
		switch {
		case err == nil && acquired:
			last = started
		case err == nil, time.Since(last) > ttl/2:
			fail(ErrNotHolder)
			return
		}
	}
}
