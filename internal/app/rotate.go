package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"sluice/internal/config"
	"sluice/internal/ident"
	"sluice/internal/lease"
	"sluice/internal/worker"
)

// RotateSealing seals everything that older keys sealed again under the current key. Without
// ENCRYPTION_KEY it first creates the current key in the key file; with it,
// ENCRYPTION_KEY=new,old contains both. It returns the number of records written. It fails while
// a gateway uses the data directory. It also fails while a gateway uses the database, unless
// withGateways states that those gateways already seal under the current key. After an
// interruption it can run again: until it finishes, the key file contains every key in use.
func RotateSealing(ctx context.Context, s config.Settings, log *slog.Logger, withGateways bool) (n int, err error) {
	if file := storeSettings(s).Path; s.Database.Type == config.SQLite {
		if _, err := os.Stat(file); err != nil {
			return 0, fmt.Errorf("find the database: %w; set its folder with --data-dir or DATA_DIR", err)
		}
	}
	lock, err := lockData(s.Data.Dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	a := &App{set: s, log: log, clock: ident.System{}}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.openData(ctx); err != nil {
		return 0, err
	}
	if err := a.openStore(ctx); err != nil {
		return 0, err
	}
	if withGateways || s.Database.Type == config.SQLite { // a gateway on SQLite would hold the lock
		return a.rotate(ctx)
	}
	err = a.withoutGateways(ctx, func(ctx context.Context) error {
		n, err = a.rotate(ctx)
		return err
	})
	return n, err
}

// rotate performs the rotation with the store open.
func (a *App) rotate(ctx context.Context) (n int, err error) {
	path, chosen := filepath.Join(a.set.Data.Dir, KeyFile), !a.set.Security.EncryptionKey.Empty()
	if !chosen {
		if err := addKey(path); err != nil {
			return 0, err
		}
	}
	if err := a.openSealer(ctx); err != nil {
		return 0, err
	}
	n, err = resealer{a.store, a.box, a.log}.all(ctx)
	if err != nil || chosen {
		return n, err
	}
	return n, dropOldKeys(path)
}

// withoutGateways runs work while no gateway runs the jobs of the database. A running gateway
// holds the worker's lease, and work holds it meanwhile.
func (a *App) withoutGateways(ctx context.Context, work func(context.Context) error) (err error) {
	me := lease.Holder()
	acquired, err := a.store.TakeLease(ctx, worker.Lease, me, rotateTTL)
	if err != nil {
		return err
	}
	if !acquired {
		holder, err := a.store.LeaseHolder(ctx, worker.Lease)
		return errors.Join(gatewayRuns(holder), err)
	}
	held, stop := lease.Hold(ctx, a.store, worker.Lease, me, rotateTTL)
	defer func() {
		stop()
		err = errors.Join(err, a.store.ReleaseLease(context.WithoutCancel(ctx), worker.Lease, me))
	}()
	if err := work(held); err != nil {
		if cause := context.Cause(held); errors.Is(cause, lease.ErrNotHolder) {
			return cause
		}
		return err
	}
	return nil
}

// rotateTTL is the time after which a gateway may begin its jobs if the rotation was killed.
const rotateTTL = 20 * time.Second

func gatewayRuns(holder string) error {
	return fmt.Errorf("a gateway runs on this database (%s), and would continue to seal with the old key; stop all gateways first, "+
		"or run each of them with the new key first in ENCRYPTION_KEY and the old key after it, and then rotate with --beside-gateways. "+
		"A killed gateway counts as running for another 20 seconds", cmp.Or(holder, "another gateway has just replaced it"))
}
