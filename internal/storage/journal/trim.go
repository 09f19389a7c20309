package journal

import (
	"errors"
	"fmt"
	"os"

	"sluice/internal/domain/record"
)

// trim records the position of a consumer and deletes the files that no consumer needs any
// more, except some that are retained for reuse while Run runs (reuse.go). The active file
// remains, and before there is one the last file of earlier runs: if the clock was set back,
// only that file shows which numbers are used. What all consumers have consumed is not written
// to disk any more.
func (j *Journal) trim(r *reader, before record.Position) error {
	j.trimming.Lock()
	defer j.trimming.Unlock()
	j.mu.Lock()
	if before.Seq > r.done.Seq {
		r.done = before
	}
	j.advanceSequence(before.Seq)
	needed := j.needed()
	n := 0
	for n < len(j.segments)-1 && j.segments[n].sealed && j.segments[n].next <= needed.Seq {
		n++
	}
	n = j.countRemovable(n)
	old := j.segments[:n:n]
	j.segments = j.segments[n:]
	for _, s := range j.segments {
		s.consume(needed)
	}
	again, rest := j.reusable(old)
	j.mu.Unlock()
	if err := errors.Join(remove(rest), j.reuse(again)); err != nil {
		return fmt.Errorf("trim journal: %w", err)
	}
	return nil
}

// advanceSequence continues numbers after those that a consumer has, because it would skip
// lower ones. A consumer is ahead of the journal only if files were lost, or older ones
// restored, and the clock was set back. Callers hold mu.
func (j *Journal) advanceSequence(seq uint64) {
	if seq <= j.next || j.closed {
		return
	}
	j.o.Logger.Warn("consumer offset is beyond the journal (segments lost, clock set back); advancing sequence numbers",
		"next", j.next, "goes_on_at", seq)
	if j.active != nil {
		j.active.sealed, j.active = true, nil
	}
	j.next, j.first = seq, seq
}

// needed returns the position of the slowest consumer. Callers hold mu.
func (j *Journal) needed() (oldest record.Position) {
	for i, r := range j.readers {
		if i == 0 || r.done.Seq < oldest.Seq {
			oldest = r.done
		}
	}
	return oldest
}

// lag counts the entries from a sequence number on. Callers hold mu.
func (j *Journal) lag(seq uint64) (n uint64) {
	for _, s := range j.segments {
		if from := max(s.first, seq); from < s.next {
			n += s.next - from
		}
	}
	return n
}

// consume records that the entries before a position are no longer needed, if its hint gives
// the offset. Callers hold Journal.mu.
func (s *segment) consume(before record.Position) {
	if !s.live || before.Seq <= s.first || before.Seq > s.next || before.Offset <= s.from {
		return
	}
	offset := s.past(before.Offset&^7, before.Seq)
	if f, ok := frameAt(s, offset); before.Seq == s.next && offset == s.used || ok && f.seq == before.Seq {
		s.from, s.fromSeq = offset, before.Seq
	}
}

// remove deletes segments that are not in any list any more.
func remove(segments []*segment) error {
	var errs []error
	for _, s := range segments {
		s.release()
		errs = append(errs, os.Remove(s.path))
	}
	return errors.Join(errs...)
}
