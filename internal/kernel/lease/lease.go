// Package lease restricts work to one node at a time. A lease has a name, and a database
// assigns it to one holder until it is released or expires by the clock of the database. Start
// reading at Hold.
package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sluice/internal/kernel/ident"
)

// Store assigns leases: *sqlstore.Store. It is safe for concurrent use.
type Store interface {
	// TakeLease takes or renews the lease name ("worker") for ttl and reports whether holder
	// has it now.
	TakeLease(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
	// ReleaseLease releases the lease. If another holder has it, that is not an error.
	ReleaseLease(ctx context.Context, name, holder string) error
}

// Holder returns a unique name for a holder, which also identifies the process:
// "node-7.internal, process 4321, 0193a4…".
func Holder() string {
	host, _ := os.Hostname() // empty if it is not known
	host = host[:min(len(host), maxHostChars)]
	return fmt.Sprintf("%s, process %d, %s", cmp.Or(host, "unnamed host"), os.Getpid(), ident.NewID())
}

// maxHostChars limits the host name in the name of a holder, which may have 255 characters.
const maxHostChars = 128

// ErrNotHolder is the cause with which the context of Hold ends if another holder has the
// lease, or may have it soon.
var ErrNotHolder = errors.New("lease lost: another node has it, or the renewal timed out")

// Hold renews a lease that holder has, four times per ttl, until stop is called. stop waits
// for the last attempt and does not release the lease. The returned context ends with the
// cause ErrNotHolder if another holder has the lease, or if it could not be renewed for half
// of ttl. The caller must then no longer touch what the lease protects.
func Hold(ctx context.Context, store Store, name, holder string, ttl time.Duration) (held context.Context, stop func()) {
	held, fail := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		renew(held, fail, ttl, func() (bool, error) {
			ctx, cancel := context.WithTimeout(held, ttl/4) // a longer wait would delay detecting a lost lease
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
		started := time.Now() // the database counts the ttl from here or later
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
