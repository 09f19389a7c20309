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

// ratesKeeper keeps what the rates of this node stand at in a file, so that a restart goes
// on with their windows. Budgets need none: the ledger has them.
type ratesKeeper struct {
	bank  *quota.Limiter
	path  string
	clock ident.Clock
	log   *slog.Logger

	room, kept []byte // the snapshot that is made, and the last eight bytes of the one in the file
}

func newRatesKeeper(bank *quota.Limiter, dir string, clock ident.Clock, log *slog.Logger) *ratesKeeper {
	return &ratesKeeper{bank: bank, path: filepath.Join(dir, "rates"), clock: clock, log: log}
}

// restore goes on where the last process left off. Without a file that can be read all
// windows begin anew, which is logged unless there was no process before.
func (k *ratesKeeper) restore() {
	err := k.read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.log.Warn("what rate limits stood at is not known; their windows begin anew", "error", err.Error())
	}
}

func (k *ratesKeeper) read() error {
	info, err := os.Stat(k.path)
	if err != nil {
		return err
	}
	if info.Size() > ratesMax {
		return fmt.Errorf("%s has %d bytes, more than %d", k.path, info.Size(), ratesMax)
	}
	b, err := os.ReadFile(k.path)
	if err != nil {
		return err
	}
	n, err := k.bank.Restore(k.clock.Now(), b)
	if err == nil {
		k.log.Info("rate limits go on where they stood", "counters", n)
	}
	return err
}

// Run keeps what rates stand at until ctx ends, and once more then.
func (k *ratesKeeper) Run(ctx context.Context) error {
	failing := false
	for ctx.Err() == nil {
		_ = background.Sleep(ctx, k.interval()) // what there is at the end is kept too
		err := k.keep()
		if err != nil && !failing {
			k.log.Error("what rate limits stand at cannot be kept; a restart begins their windows anew", "error", err.Error())
		}
		failing = err != nil
	}
	return nil
}

// interval is how long the next snapshot may wait.
func (k *ratesKeeper) interval() time.Duration {
	return ratesInterval * time.Duration(min(1+len(k.room)/ratesPage, ratesSeldom))
}

// keep writes a snapshot, unless it is that of the file.
func (k *ratesKeeper) keep() error {
	k.room = k.bank.Snapshot(k.clock.Now(), k.room[:0])
	check := k.room[len(k.room)-8:]
	if bytes.Equal(check, k.kept) {
		return nil
	}
	if err := replaceFile(k.path, k.room, false); err != nil {
		return err
	}
	k.kept = append(k.kept[:0], check...)
	return nil
}
