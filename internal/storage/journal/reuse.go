package journal

import (
	"errors"
	"slices"
	"time"
)

// These limit the preallocated files. fewSpares are always retained: one that follows the
// active one, and one more because that begins before the active one is consumed. Up to
// maxPreallocated are retained if they are needed within spareTime, because bursts recur.
const (
	fewSpares       = 2
	maxPreallocated = 32
	spareTime       = time.Minute
)

// reusable removes from segments those that are not in use and may be reused. Reusing a file
// saves finding its blocks, filling them with zeros and freeing them. It also saves the memory
// of a new one, which on a virtual machine may have to come from the host first (64 MB of
// zeros: 170 ms there, 15 in memory that the machine has; KVM, Linux 6.18, 2026-11-23).
// Callers hold segmentSet.mu.
func (p *segmentPool) reusable(segments []*segment) (again, rest []*segment) {
	available := p.o.MaxBytes - int64(len(p.preallocated))*p.o.SegmentBytes
	for _, s := range p.files.segments {
		available -= int64(len(s.data))
	}
	for _, s := range segments {
		available -= p.o.SegmentBytes
		if p.files.running && s.live && s.refs.Load() == 1 && available >= 0 && len(p.preallocated)+len(again) < maxPreallocated {
			again = append(again, s)
		} else {
			rest = append(rest, s)
		}
	}
	return again, rest
}

// reuse turns segments that are in no list into preallocated files.
func (p *segmentPool) reuse(segments []*segment) error {
	if len(segments) == 0 {
		return nil
	}
	var errs []error
	for _, s := range segments {
		s.since().Store(noEntry)
		s.consumed().Store(0)
		s.consumedSequence().Store(0)
		errs = append(errs, s.forget(int64(len(s.data))))
		s.from, s.fromSeq, s.used, s.first, s.next = fileHeader, 0, fileHeader, 0, 0
		s.sealed, s.durable = false, false
	}
	p.files.mu.Lock()
	if !p.files.closed {
		p.preallocated = append(p.preallocated, segments...)
		segments = nil
	}
	p.files.mu.Unlock()
	p.wake.send()
	return errors.Join(append(errs, remove(segments))...)
}

// dropSpares removes the preallocated files that were not needed since the last call, except
// fewSpares.
func (p *segmentPool) dropSpares() error {
	p.files.mu.Lock()
	n := max(0, min(p.idlePreallocated, len(p.preallocated))-fewSpares) // there are none after Close
	old := slices.Clone(p.preallocated[:n])
	p.preallocated = slices.Delete(p.preallocated, 0, n)
	p.idlePreallocated = len(p.preallocated)
	p.files.mu.Unlock()
	return remove(old)
}

// manySpares reports whether some may have to be removed.
func (p *segmentPool) manySpares() bool {
	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	return len(p.preallocated) > fewSpares
}
