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
	j := &Journal{o: o, lock: lock, poke: make(chan struct{}, 1)}
	if j.id, err = identity(o.Dir, o.Logger); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), lock.Close())
	}
	if err := j.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), j.Close())
	}
	// Using the clock for numbers keeps them growing even if the newest records, or the
	// complete directory, were lost after a reader had stored its position.
	j.next = max(j.next, uint64(o.Clock.Now().UnixMicro()))
	j.first = j.next
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

// load opens the segments of earlier runs.
func (j *Journal) load() error {
	numbers, err := segmentNumbers(j.o.Dir)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		if err := j.loadSegment(number); err != nil {
			return err
		}
		j.number = number + 1
	}
	// A preallocated file may have a lower number than a file that was created later and used
	// first.
	slices.SortFunc(j.segments, func(a, b *segment) int { return cmp.Compare(a.first, b.first) })
	j.logMissing()
	return nil
}

// logMissing logs files that end before the next one of their run begins: what followed the
// fault is lost. Between runs, numbers jump.
func (j *Journal) logMissing() {
	for i, s := range j.segments[:max(len(j.segments)-1, 0)] {
		next := j.segments[i+1]
		if s.next >= next.first || s.run().Load() != next.run().Load() {
			continue
		}
		j.recordLost(s, s.used, next.first-s.next)
	}
}

// recordLost counts and logs entries that were at an offset of a file and cannot be found.
func (j *Journal) recordLost(s *segment, offset int64, entries uint64) {
	j.damaged.Add(entries)
	j.o.Logger.Error("journal segment is corrupt; entries in the damaged range are lost",
		"path", s.path, "offset", offset, "entries_lost", entries)
}

func (j *Journal) loadSegment(number uint64) error {
	path := segmentPath(j.o.Dir, number)
	s, err := openSegment(path, number)
	switch {
	case errors.Is(err, errNoSegment):
		j.o.Logger.Warn("cannot read journal segment; moved aside", "path", path+".damaged", "error", err)
		return os.Rename(path, path+".damaged")
	case err != nil:
		return err
	case s.next == 0: // a preallocated file that was never used, or not even finished
		s.release()
		return os.Remove(path)
	}
	for _, h := range s.holes {
		j.recordLost(s, h.from, h.missing)
	}
	j.segments = append(j.segments, s)
	j.next = max(j.next, s.next)
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
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	err := j.Sync()

	j.mu.Lock()
	segments, active, spares := j.segments, j.active, j.preallocated
	j.segments, j.active, j.preallocated = nil, nil, nil
	j.mu.Unlock()
	j.ring()
	for _, s := range segments {
		s.release()
	}
	if active != nil { // free what was reserved and not used
		err = errors.Join(err, os.Truncate(active.path, active.used))
	}
	return errors.Join(err, remove(spares), j.lock.Close())
}
