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

// ratesInterval is how often what rates stand at is kept. Together with the time that
// keeping takes it is what a kill forgets: at most a second. Many rates, which take long to
// write, are kept less often: every ratesPage bytes of them make the interval as much
// longer, up to ratesSeldom times.
const (
	ratesInterval = 900 * time.Millisecond
	ratesPage     = 512 << 10 // some 5,000 counters
	ratesSeldom   = 10
)

// ratesMax bounds the file that is read, in bytes: some four million counters.
const ratesMax = 256 << 20

// rateStore keeps what the rates of this node stand at in a file, so that a restart goes
// on with their windows. Budgets need none: the ledger has them.
type rateStore struct {
	limits *quota.Limiter
	path   string
	clock  ident.Clock
	log    *slog.Logger

	snapshot, savedChecksum []byte // the snapshot that is made, and the last eight bytes of the one in the file
}

func newRateStore(counters *quota.Limiter, dir string, clock ident.Clock, log *slog.Logger) *rateStore {
	return &rateStore{limits: counters, path: filepath.Join(dir, "rates"), clock: clock, log: log}
}

// restore goes on where the last process left off. Without a file that can be read all
// windows begin anew, which is logged unless there was no process before.
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

// Run keeps what rates stand at until ctx ends, and once more then.
func (k *rateStore) Run(ctx context.Context) error {
	failing := false
	for ctx.Err() == nil {
		_ = background.Sleep(ctx, k.interval()) // what there is at the end is kept too
		err := k.save()
		if err != nil && !failing {
			k.log.Error("cannot persist rate-limit counters; they will reset on restart", "error", err.Error())
		}
		failing = err != nil
	}
	return nil
}

// interval is how long the next snapshot may wait.
func (k *rateStore) interval() time.Duration {
	return ratesInterval * time.Duration(min(1+len(k.snapshot)/ratesPage, ratesSeldom))
}

// save writes a snapshot, unless it is that of the file.
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
