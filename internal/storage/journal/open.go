package journal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Open opens or creates the journal in o.Dir. Records of earlier runs that were not trimmed
// can be read; after a crash, only the complete ones. New records go to a new file. Open fails
// if another process has the directory open.
func Open(o Options) (*Journal, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	id, err := identity(o.Dir, o.Logger)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), lock.Close())
	}
	j := newJournal(o, lock, id)
	r := recovery{o: &j.o, files: &j.files, pool: &j.pool, damage: &j.damage}
	if err := r.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), j.Close())
	}
	// Using the clock for numbers keeps them growing even if the newest records, or the
	// complete directory, were lost after a reader had stored its position.
	j.files.next = max(j.files.next, uint64(o.Clock.Now().UnixMicro()))
	j.files.first = j.files.next
	return j, nil
}

// lockDir excludes a second process while the file is open. The kernel releases the lock
// however the process ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is in use by another process: %w", dir, err), f.Close())
	}
	return f, nil
}

// recovery opens the segments of earlier runs. Open uses it before anything else uses the
// journal, so it takes no lock.
type recovery struct {
	o      *Options
	files  *segmentSet
	pool   *segmentPool
	damage *damageLog
}

// load opens the segments of earlier runs.
func (r *recovery) load() error {
	numbers, err := segmentNumbers(r.o.Dir)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		if err := r.loadSegment(number); err != nil {
			return err
		}
		r.pool.number = number + 1
	}
	// A preallocated file may have a lower number than a file that was created later and used
	// first.
	slices.SortFunc(r.files.segments, func(a, b *segment) int { return cmp.Compare(a.first, b.first) })
	r.logMissing()
	return nil
}

// logMissing logs files that end before the next one of their run begins: what followed the
// fault is lost. Between runs, numbers jump.
func (r *recovery) logMissing() {
	for i, s := range r.files.segments[:max(len(r.files.segments)-1, 0)] {
		next := r.files.segments[i+1]
		if s.next >= next.first || s.run().Load() != next.run().Load() {
			continue
		}
		r.damage.recordLost(s, s.used, next.first-s.next)
	}
}

func (r *recovery) loadSegment(number uint64) error {
	path := segmentPath(r.o.Dir, number)
	s, err := openSegment(path, number)
	switch {
	case errors.Is(err, errNoSegment):
		r.o.Logger.Warn("cannot read journal segment; moved aside", "path", path+".damaged", "error", err)
		return os.Rename(path, path+".damaged")
	case err != nil:
		return err
	case s.next == 0: // a preallocated file that was never used, or not even finished
		s.release()
		return os.Remove(path)
	}
	for _, h := range s.holes {
		r.damage.recordLost(s, h.from, h.missing)
	}
	r.files.segments = append(r.files.segments, s)
	r.files.next = max(r.files.next, s.next)
	return nil
}

// segmentNumbers lists the segment files of a directory in the order of their names.
func segmentNumbers(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []uint64
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), extension); ok {
			if n, err := strconv.ParseUint(stem, 10, 64); err == nil && e.Name() == filepath.Base(segmentPath(dir, n)) {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// Close writes everything to disk and closes the journal: Append and Wait then fail with
// ErrClosed. Records being appended at that moment are treated as after a crash. Closing twice
// does nothing.
func (j *Journal) Close() error {
	j.files.mu.Lock()
	if j.files.closed {
		j.files.mu.Unlock()
		return nil
	}
	j.files.closed = true
	j.files.mu.Unlock()
	err := j.syncer.sync()

	j.files.mu.Lock()
	segments, active, spares := j.files.segments, j.files.active, j.pool.preallocated
	j.files.segments, j.files.active, j.pool.preallocated = nil, nil, nil
	j.files.mu.Unlock()
	j.waiters.ring()
	for _, s := range segments {
		s.release()
	}
	if active != nil { // free what was reserved and not used
		err = errors.Join(err, os.Truncate(active.path, active.used))
	}
	return errors.Join(err, remove(spares), j.lock.Close())
}
