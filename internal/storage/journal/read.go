package journal

import (
	"context"

	"sluice/internal/domain/record"
)

// view is what a reader may read of a segment. Its holder must release seg.
type view struct {
	seg   *segment
	first uint64
	next  uint64
	from  int64
	// fromSeq is the number of the entry at from.
	fromSeq uint64
	used    int64
	sealed  bool
	quiet   bool // no one else held the segment
}

// hold takes a reference. Callers hold segmentSet.mu.
func (s *segment) hold() view {
	refs := s.refs.Add(1)
	return view{seg: s, first: s.first, next: s.next, from: s.from, fromSeq: s.fromSeq, used: s.used, sealed: s.sealed, quiet: refs == 2}
}

// scanner reads the entries of all segments in order, and waits for further ones.
type scanner struct {
	files   *segmentSet
	waiters *waiters
	damage  *damageLog
}

// scan calls visit with the complete frames from a position on.
func (sc *scanner) scan(pos record.Position, visit func(frame) bool) record.Position {
	for {
		v, ok := sc.files.view(pos.Seq)
		if !ok {
			return pos
		}
		var end bool
		if pos, end = v.scan(pos, visit, sc.damage.recordLost); !end {
			_ = v.seg.forget(int64(len(v.seg.data))) // after an error its pages only remain in memory
		}
		v.seg.release()
		if end {
			return pos
		}
	}
}

// scan reads one segment. end reports that the next one must not be read. onMissing is called
// for entries that disappeared since recovery found them: the file was changed, or its disk
// cannot read them any more.
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

// find finds the offset of a position, after padding and corrupt ranges, and the frame there.
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

// nextComplete returns the position of the next complete entry of the segment, or the one
// after all entries.
func (v view) nextComplete(pos record.Position) record.Position {
	next := record.Position{Seq: v.next, Offset: v.used}
	v.seg.withFaultRecovery(func() {
		if f, ok := v.seg.seek(pos.Offset, v.used, pos.Seq); ok {
			next = f.position()
		}
	})
	return next
}

// locate finds the frame of a position, or of the next existing one, by its hint or by reading
// the segment.
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
		case f.seq >= pos.Seq: // after a corrupt range
			return f.position()
		}
		begin = f.next()
	}
	return begin
}

// wait returns when there is a matching entry at or after a position, with ErrClosed after
// Close, or with the error of ctx if that ends first. It does not poll.
func (sc *scanner) wait(ctx context.Context, begin record.Position, matters func(frame) bool) error {
	for {
		bell := sc.waiters.listen()
		readable := false
		begin = sc.scan(begin, func(f frame) bool { readable = matters(f); return !readable })
		if readable {
			return nil
		}
		if sc.files.isClosed() {
			return ErrClosed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-bell:
		}
	}
}
