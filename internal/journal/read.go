package journal

import (
	"context"
	"errors"
	"fmt"
	"os"

	"sluice/internal/record"
)

// view is what a reader may look at of a segment. Its holder must release seg.
type view struct {
	seg    *segment
	first  uint64
	next   uint64
	from   int64
	used   int64
	sealed bool
	quiet  bool // nobody else held the segment
}

// hold takes a reference. Callers hold Journal.mu.
func (s *segment) hold() view {
	refs := s.refs.Add(1)
	return view{seg: s, first: s.first, next: s.next, from: s.from, used: s.used, sealed: s.sealed, quiet: refs == 2}
}

// view finds the segment of the first record at or behind seq.
func (j *Journal) view(seq uint64) (view, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		if s.next > seq {
			return s.hold(), true
		}
	}
	return view{}, false
}

// Read calls visit with the records from a position on, in order, until there are
// no more or visit returns false, and returns the position behind the last one
// that was visited. The attempt and the bytes of its bodies are lent for the call
// only; its texts may be kept. Records that cannot be read are passed over and
// counted. Positions may be read again until they are trimmed.
func (j *Journal) Read(from record.Position, visit func(*record.Attempt) bool) record.Position {
	var a record.Attempt
	return j.scan(from, func(f frame) bool {
		if !f.intact() || a.Decode(f.payload()) != nil {
			j.damaged.Add(1)
			return true
		}
		return visit(&a)
	})
}

// scan calls visit with the whole frames from a position on.
func (j *Journal) scan(pos record.Position, visit func(frame) bool) record.Position {
	for {
		v, ok := j.view(pos.Seq)
		if !ok {
			return pos
		}
		var end bool
		pos, end = v.scan(pos, visit)
		v.seg.release()
		if end {
			return pos
		}
	}
}

// scan goes through one segment. end says that the next one is not to be tried.
func (v view) scan(pos record.Position, visit func(frame) bool) (next record.Position, end bool) {
	pos = v.locate(pos)
	for pos.Offset < v.used {
		f, ok := frameAt(v.seg, pos.Offset)
		if !ok { // what recovery found is gone: the file was changed under us
			return record.Position{Seq: v.next}, false
		}
		if !f.final() && v.seg.live {
			return pos, true
		}
		pos = record.Position{Seq: f.seq + 1, Offset: pos.Offset + frameBytes(f.size)}
		if f.final() && !f.void() && !visit(f) {
			return pos, true
		}
	}
	return pos, !v.sealed
}

// locate finds the frame of a position: where its hint says, or by walking.
func (v view) locate(pos record.Position) record.Position {
	if pos.Seq <= v.first {
		return record.Position{Seq: v.first, Offset: v.seg.begin}
	}
	if f, ok := frameAt(v.seg, pos.Offset&^7); ok && f.seq == pos.Seq {
		return record.Position{Seq: pos.Seq, Offset: f.offset}
	}
	at := record.Position{Seq: v.first, Offset: v.seg.begin}
	for at.Seq < pos.Seq {
		f, ok := frameAt(v.seg, at.Offset)
		if !ok {
			return record.Position{Seq: v.next, Offset: v.used}
		}
		at = record.Position{Seq: f.seq + 1, Offset: at.Offset + frameBytes(f.size)}
	}
	return at
}

// Wait returns when there is something to read at a position, with ErrClosed after
// Close, and with the error of ctx when that ends first. It does not poll.
func (j *Journal) Wait(ctx context.Context, at record.Position) error {
	for {
		bell := j.listen()
		readable := false
		j.scan(at, func(frame) bool { readable = true; return false })
		if readable {
			return nil
		}
		if j.isClosed() {
			return ErrClosed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-bell:
		}
	}
}

func (j *Journal) isClosed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}

// listen returns the channel that the next ring closes.
func (j *Journal) listen() <-chan struct{} {
	j.bell.mu.Lock()
	defer j.bell.mu.Unlock()
	if j.bell.ch == nil {
		j.bell.ch = make(chan struct{})
	}
	j.bell.waiting.Store(true)
	return j.bell.ch
}

// ring wakes all who wait. It costs one load when nobody does.
func (j *Journal) ring() {
	if !j.bell.waiting.Load() {
		return
	}
	j.bell.mu.Lock()
	defer j.bell.mu.Unlock()
	if j.bell.waiting.Swap(false) {
		close(j.bell.ch)
		j.bell.ch = nil
	}
}

// Trim says that records before a position are no longer needed, as they are safe
// elsewhere. From then on they are not brought to the disk, and files that hold no
// other are deleted, but for two at most that are kept to be written again while Run
// runs. The file being written stays.
func (j *Journal) Trim(before record.Position) error {
	j.mu.Lock()
	j.consumed = max(j.consumed, before.Seq)
	n := 0
	for n < len(j.segments) && j.segments[n].sealed && j.segments[n].next <= before.Seq {
		n++
	}
	old := j.segments[:n:n]
	j.segments = j.segments[n:]
	for _, s := range j.segments {
		s.consume(before)
	}
	again, rest := j.reusable(old)
	j.mu.Unlock()
	if err := errors.Join(remove(rest), j.reuse(again)); err != nil {
		return fmt.Errorf("trim journal: %w", err)
	}
	return nil
}

// consume notes that the records before a position are no longer needed, where its
// hint tells the place. Callers hold Journal.mu.
func (s *segment) consume(before record.Position) {
	if !s.live || before.Seq <= s.first || before.Seq > s.next || before.Offset <= s.from {
		return
	}
	if before.Seq == s.next && before.Offset == s.used {
		s.from = s.used
	} else if f, ok := frameAt(s, before.Offset&^7); ok && f.seq == before.Seq {
		s.from = f.offset
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
