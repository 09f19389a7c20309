package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"sluice/internal/domain/record"
)

// consumers are the readers of a journal: the log store, the ledger and the tails. They decide which
// segments are still needed.
type consumers struct {
	o     *Options
	files *segmentSet
	pool  *segmentPool

	trimming sync.Mutex // one trim at a time; taken before segmentSet.mu

	readers []*reader // guarded by segmentSet.mu
	tails   []*Tail   // guarded by segmentSet.mu
}

// trim records the position of a consumer and deletes the files that no consumer needs any
// more, except some that are retained for reuse while Run runs (reuse.go). The active file
// remains, and before there is one the last file of earlier runs: if the clock was set back,
// only that file shows which numbers are used. What all consumers have consumed is not written
// to disk any more.
func (c *consumers) trim(r *reader, before record.Position) error {
	c.trimming.Lock()
	defer c.trimming.Unlock()
	c.files.mu.Lock()
	if before.Seq > r.done.Seq {
		r.done = before
	}
	c.files.advanceSequence(before.Seq)
	needed := c.needed()
	n := 0
	for n < len(c.files.segments)-1 && c.files.segments[n].sealed && c.files.segments[n].next <= needed.Seq {
		n++
	}
	n = c.countRemovable(n)
	old := c.files.segments[:n:n]
	c.files.segments = c.files.segments[n:]
	for _, s := range c.files.segments {
		s.consume(needed)
	}
	again, rest := c.pool.reusable(old)
	c.files.mu.Unlock()
	if err := errors.Join(remove(rest), c.pool.reuse(again)); err != nil {
		return fmt.Errorf("trim journal: %w", err)
	}
	return nil
}

// needed returns the position of the slowest consumer. Callers hold segmentSet.mu.
func (c *consumers) needed() (oldest record.Position) {
	for i, r := range c.readers {
		if i == 0 || r.done.Seq < oldest.Seq {
			oldest = r.done
		}
	}
	return oldest
}

// consume records that the entries before a position are no longer needed, if its hint gives
// the offset. Callers hold segmentSet.mu.
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
