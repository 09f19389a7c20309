// Package keyrotation seals everything that older keys sealed again under the current key. Start
// reading at Rotation.
package keyrotation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/internal/kernel/lease"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/keyfile"
	"sluice/internal/storage/sqlstore"
)

// Rotation seals all secrets of a deployment under its current key. Without ENCRYPTION_KEY it
// first creates the current key in the key file. After an interruption it can run again: until
// it finishes, the key file contains every key in use. No other process may use the data
// directory meanwhile.
type Rotation struct {
	Store *sqlstore.Store
	Dir   string   // the data directory, which contains the key file
	Keys  [][]byte // of ENCRYPTION_KEY, the current one first; none for the key file
	Lease string   // name of the lease that a running gateway holds
	Log   *slog.Logger
}

// Run performs the rotation and returns the number of records written, also with an error. A
// gateway that runs meanwhile must already seal under the current key.
func (r Rotation) Run(ctx context.Context) (n int, err error) {
	if len(r.Keys) == 0 {
		if err := keyfile.Add(r.Dir); err != nil {
			return 0, err
		}
	}
	box, err := bootstrap.OpenSealer(ctx, r.Store, r.Keys, r.Dir)
	if err != nil {
		return 0, err
	}
	n, err = resealer{r.Store, box, r.Log}.all(ctx)
	if err == nil {
		var batches int
		batches, err = resealBatches(ctx, r.Store, box)
		n += batches
	}
	if err != nil || len(r.Keys) > 0 {
		return n, err
	}
	return n, keyfile.DropOld(r.Dir)
}

// RunAlone works like Run, and fails while a gateway runs the jobs of the database. A running
// gateway holds the lease, and RunAlone holds it meanwhile.
func (r Rotation) RunAlone(ctx context.Context) (n int, err error) {
	me := lease.Holder()
	acquired, err := r.Store.TakeLease(ctx, r.Lease, me, leaseTTL)
	if err != nil {
		return 0, err
	}
	if !acquired {
		holder, err := r.Store.LeaseHolder(ctx, r.Lease)
		return 0, errors.Join(gatewayRuns(holder), err)
	}
	held, stop := lease.Hold(ctx, r.Store, r.Lease, me, leaseTTL)
	defer func() {
		stop()
		err = errors.Join(err, r.Store.ReleaseLease(context.WithoutCancel(ctx), r.Lease, me))
	}()
	n, err = r.Run(held)
	if cause := context.Cause(held); err != nil && errors.Is(cause, lease.ErrNotHolder) {
		return n, cause
	}
	return n, err
}

// leaseTTL is the time after which a gateway may begin its jobs if the rotation was killed.
const leaseTTL = 20 * time.Second

func gatewayRuns(holder string) error {
	return fmt.Errorf("a gateway runs on this database (%s), and would continue to seal with the old key; stop all gateways first, "+
		"or run each of them with the new key first in ENCRYPTION_KEY and the old key after it, and then rotate with --beside-gateways. "+
		"A killed gateway counts as running for another 20 seconds", cmp.Or(holder, "another gateway has just replaced it"))
}
