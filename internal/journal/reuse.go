package journal

import "errors"

// maxSpares is how many files are kept to be written again: one that follows the
// active one, and one more because that begins before the active one is consumed.
const maxSpares = 2

// reusable takes those out of segments that nobody else holds and that may become
// spares. To write a file again saves finding its blocks, filling them with zeros and
// giving them back. Callers hold mu.
func (j *Journal) reusable(segments []*segment) (again, rest []*segment) {
	room := j.o.MaxBytes - int64(len(j.spares))*j.o.SegmentBytes
	for _, s := range j.segments {
		room -= int64(len(s.data))
	}
	for _, s := range segments {
		room -= j.o.SegmentBytes
		if j.running && s.live && s.refs.Load() == 1 && room >= 0 && len(j.spares)+len(again) < maxSpares {
			again = append(again, s)
		} else {
			rest = append(rest, s)
		}
	}
	return again, rest
}

// reuse makes spares of segments that are in no list.
func (j *Journal) reuse(segments []*segment) error {
	var errs []error
	for _, s := range segments {
		s.since().Store(noEntry)
		s.consumed().Store(0)
		errs = append(errs, s.forget(int64(len(s.data))))
		s.from, s.used, s.first, s.next = fileHeader, fileHeader, 0, 0
		s.sealed, s.durable, s.cold = false, false, false
		s.warm = s.bringIn(0, warmAhead)
	}
	j.mu.Lock()
	if !j.closed {
		j.spares = append(j.spares, segments...)
		segments = nil
	}
	j.mu.Unlock()
	return errors.Join(append(errs, remove(segments))...)
}
