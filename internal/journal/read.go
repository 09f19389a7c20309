package journal

import (
	"context"

	"sluice/internal/record"
)

// view is what a reader may look at of a segment. Its holder must release seg.
type view struct {
	seg   *segment
	first uint64
	next  uint64
	from  int64
	// fromSeq is the number of the entry at from.
	fromSeq uint64
	used    int64
	sealed  bool
	quiet   bool // nobody else held the segment
}

// hold takes a reference. Callers hold Journal.mu.
func (s *segment) hold() view {
	refs := s.refs.Add(1)
	return view{seg: s, first: s.first, next: s.next, from: s.from, fromSeq: s.fromSeq, used: s.used, sealed: s.sealed, quiet: refs == 2}
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

// scan calls visit with the whole frames from a position on.
func (j *Journal) scan(pos record.Position, visit func(frame) bool) record.Position {
	for {
		v, ok := j.view(pos.Seq)
		if !ok {
			return pos
		}
		var end bool
		if pos, end = v.scan(pos, visit, j.recordLost); !end {
			_ = v.seg.forget(int64(len(v.seg.data))) // after an error its pages only stay in memory
		}
		v.seg.release()
		if end {
			return pos
		}
	}
}

// scan goes through one segment. end says that the next one is not to be tried. lost is told
// of entries that are gone since recovery found them: the file was changed under us, or its
// disk does not give them any more.
func (v view) scan(pos record.Position, visit func(frame) bool, onMissing func(s *segment, offset int64, entries uint64)) (next record.Position, end bool) {
	v.seg.withFaultRecovery(func() { pos = v.locate(pos) })
	for {
		begin, f, ok := v.find(pos)
		if pos.Offset = begin; begin >= v.used {
			return pos, !v.sealed
		}
		if !ok {
			next := v.nextComplete(pos)
			onMissing(v.seg, begin, next.Seq-pos.Seq)
			if pos = next; pos.Seq == v.next {
				return pos, false
			}
			continue
		}
		if !f.isLast() && v.seg.live {
			return pos, true
		}
		pos = f.next()
		if f.isLast() && !f.isCancelled() && !visit(f) {
			return pos, true
		}
	}
}

// find finds the place of a position, behind padding and holes, and the frame there.
func (v view) find(pos record.Position) (begin int64, f frame, ok bool) {
	v.seg.withFaultRecovery(func() {
		if begin = v.seg.past(pos.Offset, pos.Seq); begin >= v.used {
			return
		}
		if f, ok = frameAt(v.seg, begin); ok {
			f.load()
		}
	})
	return begin, f, ok
}

// nextComplete is the position of the next whole entry of the segment, or the one behind all.
func (v view) nextComplete(pos record.Position) record.Position {
	next := record.Position{Seq: v.next, Offset: v.used}
	v.seg.withFaultRecovery(func() {
		if f, ok := v.seg.seek(pos.Offset, v.used, pos.Seq); ok {
			next = f.position()
		}
	})
	return next
}

// locate finds the frame of a position, or of the next one that there is: where its hint
// says, or by walking.
func (v view) locate(pos record.Position) record.Position {
	if pos.Seq <= v.first {
		return record.Position{Seq: v.first, Offset: v.seg.begin}
	}
	if f, ok := frameAt(v.seg, v.seg.past(pos.Offset&^7, pos.Seq)); ok && f.seq == pos.Seq {
		return f.position()
	}
	begin := record.Position{Seq: v.first, Offset: v.seg.begin}
	for begin.Seq < pos.Seq {
		f, ok := frameAt(v.seg, v.seg.past(begin.Offset, begin.Seq))
		switch {
		case !ok:
			return v.nextComplete(record.Position{Seq: pos.Seq, Offset: begin.Offset})
		case f.seq >= pos.Seq: // behind a hole
			return f.position()
		}
		begin = f.next()
	}
	return begin
}

// wait returns when an entry that matters stands at or behind a position, with ErrClosed
// after Close, and with the error of ctx when that ends first. It does not poll.
func (j *Journal) wait(ctx context.Context, begin record.Position, matters func(frame) bool) error {
	for {
		bell := j.listen()
		readable := false
		begin = j.scan(begin, func(f frame) bool { readable = matters(f); return !readable })
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
	j.waiters.mu.Lock()
	defer j.waiters.mu.Unlock()
	if j.waiters.ch == nil {
		j.waiters.ch = make(chan struct{})
	}
	j.waiters.waiting.Store(true)
	return j.waiters.ch
}

// ring wakes all who wait. It costs one load when nobody does.
func (j *Journal) ring() {
	if !j.waiters.waiting.Load() {
		return
	}
	j.waiters.mu.Lock()
	defer j.waiters.mu.Unlock()
	if j.waiters.waiting.Swap(false) {
		close(j.waiters.ch)
		j.waiters.ch = nil
	}
}
