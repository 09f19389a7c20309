package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sluice/internal/kernel/background"
)

// retryAfter is the delay before a failed file creation is retried. Appends fail
// immediately until then.
const retryAfter = time.Second

// Run syncs records to the disk at the interval of Options.Sync and creates files
// in advance, until ctx ends. It sleeps while nothing is appended. The journal
// works without it, but then only Sync and Close make records survive a power
// failure. Run returns the error of the last sync.
func (j *Journal) Run(ctx context.Context) error {
	j.setRunning(true)
	defer j.setRunning(false)
	disk := background.NewOutageLog(j.o.Logger, "journal sync failed; retrying", "journal sync restored")
	var sync, spares, again alarm
	for {
		if j.prepare(); j.isStuck() {
			again.set(retryAfter)
		}
		select {
		case <-ctx.Done():
			return j.Sync()
		case <-again:
			again = nil
		case <-j.poke:
			sync.set(j.o.Sync)
			if j.manySpares() {
				spares.set(spareTime)
			}
		case <-sync:
			sync = nil
			if !j.syncAndReport(disk) {
				sync.set(j.o.Sync)
			}
		case <-spares:
			spares = nil
			if err := j.dropSpares(); err != nil {
				j.o.Logger.Error("cannot remove consumed journal segment", "error", err)
			}
			if j.manySpares() {
				spares.set(spareTime)
			}
		}
	}
}

// setRunning records whether Run runs: only then consumed files are retained for reuse.
func (j *Journal) setRunning(is bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.running = is
}

// alarm fires once after it was set. Nil means that it is not set.
type alarm <-chan time.Time

func (a *alarm) set(d time.Duration) {
	if *a == nil {
		*a = time.After(d)
	}
}

func (j *Journal) wakeRun() {
	select {
	case j.poke <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// prepare creates the preallocated file without holding mu, so that appends do not wait.
func (j *Journal) prepare() {
	j.mu.Lock()
	if len(j.preallocated) > 0 || j.closed || j.full() || j.o.Clock.Now().Before(j.retry) {
		j.mu.Unlock()
		return
	}
	number := j.number
	j.number++
	j.mu.Unlock()

	s, err := createSegment(j.o.Dir, number, j.o.SegmentBytes, true)

	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err != nil:
		if j.createError == nil {
			j.o.Logger.Error("cannot create journal segment; retrying", "error", err)
		}
		j.fail(err)
	case j.closed:
		s.release()
		_ = os.Remove(s.path) // the next Open removes it otherwise
	default:
		j.grown()
		j.preallocated = append(j.preallocated, s)
	}
}

// full reports whether one more segment would exceed Options.MaxBytes. Callers hold mu.
func (j *Journal) full() bool { return j.size()+j.o.SegmentBytes > j.o.MaxBytes }

// size returns the bytes of the files in use, without preallocated files. Callers hold mu.
func (j *Journal) size() (total int64) {
	for _, s := range j.segments {
		total += int64(len(s.data))
	}
	return total
}

// fail records that a file could not be created. Callers hold mu.
func (j *Journal) fail(err error) {
	j.retry = j.o.Clock.Now().Add(retryAfter)
	j.createError = fmt.Errorf("%w: %w", ErrFull, err)
	j.wakeRun()
}

// leavesToRun reports whether only Run may retry the creation of a file. On a full disk an
// attempt can take long, and all appends would wait for it. Without Run the next append
// retries, at most once in retryAfter. Callers hold mu.
func (j *Journal) leavesToRun() bool {
	return j.createError != nil && (j.running || j.o.Clock.Now().Before(j.retry))
}

// grow creates a file immediately. Callers hold mu.
func (j *Journal) grow() (*segment, error) {
	s, err := createSegment(j.o.Dir, j.number, j.o.SegmentBytes, false)
	j.number++
	if err != nil {
		j.fail(err)
		return nil, j.createError
	}
	j.grown()
	return s, nil
}

// grown clears the recorded creation failure. Callers hold mu.
func (j *Journal) grown() {
	if j.createError != nil {
		j.o.Logger.Info("journal segment creation restored")
	}
	j.createError, j.refusal = nil, nil
}

func (j *Journal) isStuck() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.createError != nil
}

// roll makes a preallocated file, or else a new one, the active file. Callers hold mu.
func (j *Journal) roll() error {
	var s *segment
	switch n := len(j.preallocated); {
	case n > 0: // the file used last: the kernel is more likely to have its pages cached
		s, j.preallocated = j.preallocated[n-1], j.preallocated[:n-1]
		j.idlePreallocated = min(j.idlePreallocated, n-1)
	case j.full():
		return errLimit
	case j.leavesToRun():
		return j.createError
	default:
		var err error
		if s, err = j.grow(); err != nil {
			return err
		}
	}
	if j.active != nil {
		j.active.sealed = true
	}
	s.start(j.next, j.first)
	s.writeID(j.id)
	j.segments = append(j.segments, s)
	j.active = s
	j.wakeRun()
	return nil
}

// Sync writes everything appended so far to the disk.
func (j *Journal) Sync() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if !j.dirty.Swap(false) {
		return nil
	}
	var errs []error
	for _, v := range j.unsynced() {
		if err := v.seg.flush(v); err != nil {
			errs = append(errs, err)
		} else {
			j.synced(v)
		}
		v.seg.release()
	}
	errs = append(errs, syncDir(j.o.Dir))
	j.syncs.Add(1)
	if err := errors.Join(errs...); err != nil {
		j.dirty.Store(true)
		return err
	}
	return nil
}

// unsynced returns views of the segments of this run that are not completely on the disk.
// The active segment is padded first, so that nothing more is appended to the pages of the
// views. The caller releases the segments.
func (j *Journal) unsynced() []view {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []view
	for _, s := range j.segments {
		if s.live && !s.durable {
			if s == j.active {
				s.pad()
			}
			out = append(out, s.hold())
		}
	}
	return out
}

// synced records that a sealed segment does not need another write. The write would
// miss a frame that was filled meanwhile. So the segment must have been sealed, and
// released by its writers, before the write began.
func (j *Journal) synced(v view) {
	j.mu.Lock()
	defer j.mu.Unlock()
	v.seg.durable = v.sealed && v.quiet
}

// syncDir makes new file names durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}
