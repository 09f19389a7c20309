// Package ratefile stores the rate counters of a node in a file, so that their windows continue
// after a restart. Budgets do not need it, because the ledger records them.
package ratefile

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

	"sluice/internal/kernel/atomicfile"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
)

// interval is the time between two snapshots of the rate counters. A killed process loses
// the counts of this time and of the write itself: at most a second. Snapshots of many counters,
// which take long to write, are less frequent: every pageBytes bytes add another interval, up to
// maxIntervals intervals.
const (
	interval     = 900 * time.Millisecond
	pageBytes    = 512 << 10 // some 5,000 counters
	maxIntervals = 10
)

// maxBytes is the maximum size in bytes of a file that is read: about four million counters.
const maxBytes = 256 << 20

// File is the file "rates" of a data directory.
type File struct {
	limits *quota.Limiter
	path   string
	clock  ident.Clock
	log    *slog.Logger

	snapshot, savedChecksum []byte // the snapshot being made, and the last eight bytes of the one in the file
}

// New returns the file of the counters of limits in the data directory dir. It does not read it.
func New(limits *quota.Limiter, dir string, clock ident.Clock, log *slog.Logger) *File {
	return &File{limits: limits, path: filepath.Join(dir, "rates"), clock: clock, log: log}
}

// Restore loads the counters of the last process. Without a readable file all windows start from
// zero. That is logged, unless there was no process before.
func (f *File) Restore() {
	err := f.read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.log.Warn("cannot restore rate-limit counters; windows restart", "error", err.Error())
	}
}

func (f *File) read() error {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	if info.Size() > maxBytes {
		return fmt.Errorf("%s has %d bytes; the maximum is %d", f.path, info.Size(), maxBytes)
	}
	b, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	n, err := f.limits.Restore(f.clock.Now(), b)
	if err == nil {
		f.log.Info("restored rate-limit counters", "counters", n)
	}
	return err
}

// Run stores the rate counters until ctx ends, and once more then.
func (f *File) Run(ctx context.Context) error {
	failing := false
	for ctx.Err() == nil {
		_ = background.Sleep(ctx, f.pause()) // the final counts are stored too
		err := f.save()
		if err != nil && !failing {
			f.log.Error("cannot persist rate-limit counters; they will reset on restart", "error", err.Error())
		}
		failing = err != nil
	}
	return nil
}

// pause returns the time until the next snapshot.
func (f *File) pause() time.Duration {
	return interval * time.Duration(min(1+len(f.snapshot)/pageBytes, maxIntervals))
}

// save writes a snapshot, unless the file already contains the same one.
func (f *File) save() error {
	f.snapshot = f.limits.Snapshot(f.clock.Now(), f.snapshot[:0])
	check := f.snapshot[len(f.snapshot)-8:]
	if bytes.Equal(check, f.savedChecksum) {
		return nil
	}
	if err := atomicfile.Replace(f.path, f.snapshot, false); err != nil {
		return err
	}
	f.savedChecksum = append(f.savedChecksum[:0], check...)
	return nil
}
