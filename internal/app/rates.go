package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"sluice/internal/background"
	"sluice/internal/ident"
	"sluice/internal/quota"
)

// ratesInterval is the time between two snapshots of the rate counters. A killed process loses
// the counts of this time and of the write itself: at most a second. Snapshots of many counters,
// which take long to write, are less frequent: every ratesPage bytes add another interval, up to
// ratesSeldom intervals.
const (
	ratesInterval = 900 * time.Millisecond
	ratesPage     = 512 << 10 // some 5,000 counters
	ratesSeldom   = 10
)

// ratesMax is the maximum size in bytes of a file that is read: about four million counters.
const ratesMax = 256 << 20

// rateStore stores the rate counters of this node in a file, so that their windows continue after
// a restart. Budgets do not need it, because the ledger records them.
type rateStore struct {
	limits *quota.Limiter
	path   string
	clock  ident.Clock
	log    *slog.Logger

	snapshot, savedChecksum []byte // the snapshot being made, and the last eight bytes of the one in the file
}

func newRateStore(counters *quota.Limiter, dir string, clock ident.Clock, log *slog.Logger) *rateStore {
	return &rateStore{limits: counters, path: filepath.Join(dir, "rates"), clock: clock, log: log}
}

// restore loads the counters of the last process. Without a readable file all windows start from
// zero. That is logged, unless there was no process before.
func (k *rateStore) restore() {
	err := k.read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.log.Warn("cannot restore rate-limit counters; windows restart", "error", err.Error())
	}
}

func (k *rateStore) read() error {
	info, err := os.Stat(k.path)
	if err != nil {
		return err
	}
	if info.Size() > ratesMax {
		return fmt.Errorf("%s has %d bytes; the maximum is %d", k.path, info.Size(), ratesMax)
	}
	b, err := os.ReadFile(k.path)
	if err != nil {
		return err
	}
	n, err := k.limits.Restore(k.clock.Now(), b)
	if err == nil {
		k.log.Info("restored rate-limit counters", "counters", n)
	}
	return err
}

// Run stores the rate counters until ctx ends, and once more then.
func (k *rateStore) Run(ctx context.Context) error {
	failing := false
	for ctx.Err() == nil {
		_ = background.Sleep(ctx, k.interval()) // the final counts are stored too
		err := k.save()
		if err != nil && !failing {
			k.log.Error("cannot persist rate-limit counters; they will reset on restart", "error", err.Error())
		}
		failing = err != nil
	}
	return nil
}

// interval returns the time until the next snapshot.
func (k *rateStore) interval() time.Duration {
	return ratesInterval * time.Duration(min(1+len(k.snapshot)/ratesPage, ratesSeldom))
}

// save writes a snapshot, unless the file already contains the same one.
func (k *rateStore) save() error {
	k.snapshot = k.limits.Snapshot(k.clock.Now(), k.snapshot[:0])
	check := k.snapshot[len(k.snapshot)-8:]
	if bytes.Equal(check, k.savedChecksum) {
		return nil
	}
	if err := replaceFile(k.path, k.snapshot, false); err != nil {
		return err
	}
	k.savedChecksum = append(k.savedChecksum[:0], check...)
	return nil
}
