package journal

import (
	"errors"
	"fmt"
	"sync/atomic"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
)

// appender is the writing part of a journal. It gives each entry its sequence number and its space
// in the active segment, and copies it there. It takes its segments from the pool.
type appender struct {
	o        *Options
	id       string // name of the journal, for the header of each segment
	files    *segmentSet
	pool     *segmentPool
	syncer   *syncer
	waiters  *waiters
	wake     wakeup
	counters counters
}

// counters count the entries of the appender since Open.
type counters struct {
	appended, lines, bytes, refused, cut atomic.Uint64
}

// entry is a value that can be appended: an attempt, a ledger entry, a correction or late results of
// guardrails.
type entry interface {
	EncodedSize() int
	AppendTo(dst []byte) []byte
}

// Append stores a copy of a and returns once the copy survives the death of the process. It does
// not wait for the disk, except that the first entry of a new file may have to reserve that file.
//
// When the disk is full or the limit is reached, the rest of the last file takes the record; the
// second half of that file takes it without its bodies. After that Append returns ErrFull, again
// without waiting: a new file is tried once a second. It also returns ErrTooLarge, ErrClosed and,
// if a closes no ledger entry, ErrUnwritten. After an error the ledger entry that a closes is not
// closed either.
func (ap *appender) Append(a *record.Attempt) error {
	_, _, err := ap.AppendWhere(a)
	return err
}

// AppendWhere is Append that also returns the position of the entry, and that of the next one in
// the same file.
func (ap *appender) AppendWhere(a *record.Attempt) (pos, next record.Position, err error) {
	if len(a.Closing) == 0 { // the call was not sent
		if err := ap.syncer.unwrittenError(); err != nil {
			ap.counters.refused.Add(1)
			return pos, next, err
		}
	}
	size := a.EncodedSize()
	if size > ap.o.MaxRecordBytes {
		if a, err = shortened(a, ap.o.MaxRecordBytes); err != nil {
			ap.counters.refused.Add(1)
			return pos, next, fmt.Errorf("append %s: %w", a.ID, err)
		}
		ap.counters.cut.Add(1)
		size = a.EncodedSize()
	}
	f, err := ap.storeEntry(a, size, true)
	if errors.Is(err, ErrFull) { // its bodies can be dropped, the rest and the closing cannot
		s := bare(a)
		if f, err = ap.storeEntry(s, s.EncodedSize(), false); err == nil && s.EncodedSize() < size {
			ap.counters.cut.Add(1)
		}
	}
	if err != nil {
		ap.counters.refused.Add(1)
	}
	return f.position(), f.next(), err
}

// AppendLine stores a copy of a ledger entry that no attempt contains: one that is reserved, or
// closed without a log record. Its guarantees and errors are those of Append, except for a reserved
// entry. That is rejected as soon as the last file is being written, because the rest of that file
// is for closing the entries of calls in progress. It is also rejected with ErrUnwritten.
func (ap *appender) AppendLine(l *ledger.Entry) error {
	size := l.EncodedSize()
	if size > ap.o.MaxRecordBytes {
		ap.counters.refused.Add(1)
		return fmt.Errorf("append entry %s: %w", l.ID, ErrTooLarge)
	}
	if l.State == ledger.Reserved {
		if err := ap.checkCapacity(); err != nil {
			ap.counters.refused.Add(1)
			return err
		}
	}
	_, err := ap.append(l, size)
	if err == nil {
		ap.counters.lines.Add(1)
	}
	return err
}

// AppendCorrection stores a correction with the ledger entry that it contains, so that both are
// read from one journal entry. Its guarantees and errors are those of AppendLine for a reserved
// entry: a correction can be made later, the closing of a call cannot.
func (ap *appender) AppendCorrection(c *record.Correction) error {
	b, err := c.Encode()
	if err == nil {
		err = ap.appendLater(b)
	}
	if err != nil {
		return fmt.Errorf("append correction of %s: %w", c.ID, err)
	}
	return nil
}

// AppendHooks stores results of guardrails that arrived after their attempt. Its guarantees and errors
// are those of AppendCorrection: on a disk that is nearly full, the outcomes of calls come first.
func (ap *appender) AppendHooks(h *record.LateHooks) error {
	b, err := h.Encode()
	if err == nil {
		err = ap.appendLater(b)
	}
	if err != nil {
		return fmt.Errorf("append guardrail results of %s: %w", h.ID, err)
	}
	return nil
}

// appendLater stores an entry about an earlier attempt, unless the rest of the last file is for the
// outcomes of calls.
func (ap *appender) appendLater(b []byte) error {
	var err error
	if len(b) > ap.o.MaxRecordBytes {
		err = ErrTooLarge
	} else if err = ap.checkCapacity(); err == nil {
		_, err = ap.append(encoded(b), len(b))
		return err
	}
	ap.counters.refused.Add(1)
	return err
}

// encoded is an entry in its stored form.
type encoded []byte

// EncodedSize implements entry.
func (e encoded) EncodedSize() int { return len(e) }

// AppendTo implements entry.
func (e encoded) AppendTo(dst []byte) []byte { return append(dst, e...) }

// checkCapacity returns why the file that is being written is the last possible one, nil if it is
// not. It may create the next file to find out. It also returns ErrUnwritten.
func (ap *appender) checkCapacity() error {
	if err := ap.syncer.unwrittenError(); err != nil {
		return err
	}
	ap.files.mu.Lock()
	defer ap.files.mu.Unlock()
	err := ap.last()
	if err == nil || errors.Is(err, errLimit) || ap.files.closed || ap.pool.leavesToRun() {
		return err
	}
	s, err := ap.pool.grow()
	if err == nil {
		ap.pool.preallocated = append(ap.pool.preallocated, s)
	}
	return err
}

// last returns why the file that is being written is the last possible one, nil if it is not.
// Unlike checkCapacity it does not try to create a file. Callers hold segmentSet.mu.
func (ap *appender) last() error {
	switch {
	case ap.files.active == nil || len(ap.pool.preallocated) > 0:
		return nil
	case ap.pool.full():
		return errLimit
	}
	return ap.pool.createError
}

// tight reports whether an entry would be in the second half of the last file. That half has
// capacity for the outcomes of ten thousand calls, without their bodies. Callers hold segmentSet.mu.
func (ap *appender) tight(need int64) bool {
	return ap.files.active != nil && ap.files.active.used+need > int64(len(ap.files.active.data)/2) && ap.last() != nil
}

// errLimit is ErrFull because the files have reached Options.MaxBytes.
var errLimit = fmt.Errorf("%w: its files have reached their maximum size", ErrFull)

// append stores an entry, and counts it if it is rejected.
func (ap *appender) append(e entry, size int) (frame, error) {
	f, err := ap.storeEntry(e, size, false)
	if err != nil {
		ap.counters.refused.Add(1)
	}
	return f, err
}

// storeEntry stores an entry. spare marks one with bodies that can be dropped. It is rejected where
// the rest of the last file is for entries without such bodies.
func (ap *appender) storeEntry(e entry, size int, spare bool) (frame, error) {
	f, err := ap.reserve(size, spare)
	if err != nil {
		return frame{}, err
	}
	if !f.fill(e) {
		return frame{}, errChanged
	}
	ap.counters.appended.Add(1)
	ap.counters.bytes.Add(uint64(size))
	if !ap.syncer.dirty.Load() && ap.syncer.dirty.CompareAndSwap(false, true) {
		ap.wake.send()
	}
	ap.waiters.ring()
	return f, nil
}

var errChanged = errors.New("journal entry changed while it was stored")

// reserve takes the next sequence number and space for size bytes. spare is that of storeEntry.
func (ap *appender) reserve(size int, spare bool) (frame, error) {
	need := frameBytes(size)
	ap.files.mu.Lock()
	defer ap.files.mu.Unlock()
	if ap.files.closed {
		return frame{}, ErrClosed
	}
	if spare && ap.tight(need) {
		return frame{}, ErrFull
	}
	if ap.files.active == nil || ap.files.active.used+need > int64(len(ap.files.active.data)) {
		if err := ap.roll(); err != nil {
			ap.pool.refusal = err
			return frame{}, err
		}
	}
	ap.pool.refusal = nil
	s := ap.files.active
	f := frame{seg: s, offset: s.used, seq: ap.files.next, size: size}
	f.begin()
	s.used += need
	ap.files.next++
	s.next = ap.files.next
	s.refs.Add(1) // until the frame is filled
	return f, nil
}

// roll makes a preallocated file, or else a new one, the active file. Callers hold segmentSet.mu.
func (ap *appender) roll() error {
	var s *segment
	switch n := len(ap.pool.preallocated); {
	case n > 0: // the file used last: the kernel is more likely to have its pages cached
		s, ap.pool.preallocated = ap.pool.preallocated[n-1], ap.pool.preallocated[:n-1]
		ap.pool.idlePreallocated = min(ap.pool.idlePreallocated, n-1)
	case ap.pool.full():
		return errLimit
	case ap.pool.leavesToRun():
		return ap.pool.createError
	default:
		var err error
		if s, err = ap.pool.grow(); err != nil {
			return err
		}
	}
	if ap.files.active != nil {
		ap.files.active.sealed = true
	}
	s.start(ap.files.next, ap.files.first)
	s.writeID(ap.id)
	ap.files.segments = append(ap.files.segments, s)
	ap.files.active = s
	ap.wake.send()
	return nil
}
