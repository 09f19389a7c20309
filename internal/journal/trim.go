package journal

import (
	"errors"
	"fmt"
	"os"

	"sluice/internal/record"
)

// trim notes how far a consumer is and deletes the files that none needs any more, but
// for some that are kept to be written again while Run runs (reuse.go). The file being
// written stays, and before there is one the last file of earlier runs: where the clock was
// set back, it alone knows up to where numbers are used. What all have consumed is not
// brought to the disk from then on.
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

// advanceSequence has numbers go on behind those that a consumer has: below them it would pass over
// what comes. That it has later ones than the journal takes both that files were lost, or
// older ones restored, and that the clock was set back. Callers hold mu.
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

// needed is the position of the consumer that is last. Callers hold mu.
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

// consume notes that the entries before a position are no longer needed, where its
// hint tells the place. Callers hold Journal.mu.
func (s *segment) consume(before record.Position) {
	if !s.live || before.Seq <= s.first || before.Seq > s.next || before.Offset <= s.from {
		return
	}
	offset := s.past(before.Offset&^7, before.Seq)
	if f, ok := frameAt(s, offset); before.Seq == s.next && offset == s.used || ok && f.seq == before.Seq {
		s.from, s.fromSeq = offset, before.Seq
	}
}

// remove deletes segments that are in no list any more.
func remove(segments []*segment) error {
	var errs []error
	for _, s := range segments {
		s.release()
		errs = append(errs, os.Remove(s.path))
	}
	return errors.Join(errs...)
}
