// Package journal keeps what a node must not forget on disk until others have taken it:
// the log records of attempts and the lines of the ledger. It is a queue of segment files
// mapped into memory: Append copies an entry into the mapping and returns, with no system
// call and no allocation, and what stands there survives the death of the process,
// kill -9 included, because the pages belong to the kernel. Run writes what is not yet
// consumed to the disk at an interval, which is what a power failure can cost.
//
// There are two consumers, each with a position of its own: Records for the log store and
// Lines for the ledger. They see entries in the order of their sequence numbers, each once
// it is whole. The numbers grow strictly, over restarts too. An attempt that ends a ledger
// line carries the closing of that line, so that both are there or neither.
//
// The files belong to one process on one machine: numbers in them are in its byte
// order, and a second Open of the same directory is refused.
package journal

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/ident"
	"sluice/internal/ledger"
	"sluice/internal/record"
)

// Errors of Append. Each refusal is counted in Stats.Refused.
var (
	ErrFull     = errors.New("journal is full")
	ErrClosed   = errors.New("journal is closed")
	ErrTooLarge = errors.New("entry is too large, even without bodies")
)

// Options say where and how a journal is kept. Only Dir must be given.
type Options struct {
	Dir            string        // made with mode 0700 when absent
	SegmentBytes   int64         // of one file, reserved as a whole; 0 means 16 MiB, or if that is more 1/4096 of MaxBytes, or what a record takes
	MaxRecordBytes int           // of an entry; longer records lose the end of their bodies; 0 means 4 MiB
	MaxBytes       int64         // of all files; Append refuses beyond it; 0 means 16 GiB
	Sync           time.Duration // between writes to the disk; 0 means one second
	Clock          ident.Clock   // nil means the machine's
	Logger         *slog.Logger  // nil means none
}

// How large files are. What is written goes from file to file, and each is written again once
// it is consumed, which is a second or two later: the smaller they are, the less memory goes
// round. All are mapped, and the system gives a process 65,530 maps.
const (
	segmentBytes = 16 << 20
	maxFiles     = 4096
)

func (o Options) withDefaults() Options {
	if o.MaxRecordBytes == 0 {
		o.MaxRecordBytes = 4 << 20
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 16 << 30
	}
	if o.SegmentBytes == 0 {
		minBytes := max(segmentBytes, o.MaxBytes/maxFiles, fileHeader+frameBytes(o.MaxRecordBytes))
		o.SegmentBytes = (minBytes + unitBytes - 1) &^ (unitBytes - 1) // whole units
	}
	if o.Sync == 0 {
		o.Sync = time.Second
	}
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Dir == "":
		return errors.New("journal: directory is required")
	case o.SegmentBytes < fileHeader+frameBytes(o.MaxRecordBytes):
		return fmt.Errorf("journal: segment size of %d bytes is too small for records of %d bytes", o.SegmentBytes, o.MaxRecordBytes)
	case o.MaxBytes < o.SegmentBytes:
		return fmt.Errorf("journal: limit of %d bytes is less than the segment size of %d bytes", o.MaxBytes, o.SegmentBytes)
	}
	return nil
}

// Journal is an open journal. Its methods are safe for concurrent use. Run should
// be running while there is traffic; Close ends everything.
type Journal struct {
	o    Options
	lock *os.File
	id   string

	mu               sync.Mutex // guards what follows, and the guarded fields of segments
	first            uint64     // the number with which this run begins
	segments         []*segment // oldest first; the last one may be active
	active           *segment   // nil until the first Append
	preallocated     []*segment // made ahead of need, or used before
	idlePreallocated int        // of them, at the front, since dropSpares
	running          bool       // Run is: spares are kept, pages brought in
	number           uint64     // of the next file
	next             uint64     // sequence number of the next entry
	readers          []*reader  // the consumers
	tails            []*Tail
	refusal          error     // why entries are refused at present
	createError      error     // why no file could be made
	retry            time.Time // no new file is tried before
	closed           bool

	syncing  sync.Mutex // one Sync at a time; taken before mu
	trimming sync.Mutex // one Trim at a time; taken before mu

	dirty            atomic.Bool               // something was appended since the last Sync
	late             atomic.Pointer[time.Time] // since when Run tries to bring something to the disk; nil while nothing waits
	poke             chan struct{}
	prefaultRequests chan struct{} // wakes the goroutine that brings pages in

	waiters struct { // wakes Wait
		waiting atomic.Bool
		mu      sync.Mutex // guards ch
		ch      chan struct{}
	}

	appended, lines, bytes, refused, cut, damaged, syncs atomic.Uint64
}

// Stats are figures since Open, but for Lag and Segments, which are present ones.
type Stats struct {
	Appended uint64 // entries
	Lines    uint64 // of them, ledger lines that came without a record
	Bytes    uint64 // of them, as stored
	Refused  uint64 // entries that were not taken
	Cut      uint64 // records whose bodies were shortened
	Damaged  uint64 // entries that could not be read back
	Syncs    uint64 // writes to the disk
	Lag      uint64 // entries that are still needed: those behind the consumer that is last
	Segments int    // files, spares included
	Disk     int64  // bytes of them
	Limit    int64  // of Disk, as Options.MaxBytes has it
}

// entry is what can be appended: an attempt, a line or a correction.
type entry interface {
	EncodedSize() int
	AppendTo(dst []byte) []byte
}

// Append stores a copy of a and returns once it would survive the death of the
// process. It waits for no disk, save that the first entry of a new file may have
// to reserve that file. When the disk or the limit is reached what is left of the last file
// takes it, in the second half of that without its bodies; it fails with ErrFull
// behind that (again without waiting: a new file is tried once a second), with ErrTooLarge
// and with ErrClosed, and where it closes no line with ErrUnwritten. The ledger line that a closes is then not closed either.
func (j *Journal) Append(a *record.Attempt) error {
	_, _, err := j.AppendWhere(a)
	return err
}

// AppendWhere is Append that says where the entry stands, and where the next one will in
// the same file.
func (j *Journal) AppendWhere(a *record.Attempt) (pos, next record.Position, err error) {
	if len(a.Closing) == 0 { // of a call that was not sent
		if err := j.unwrittenError(); err != nil {
			j.refused.Add(1)
			return pos, next, err
		}
	}
	size := a.EncodedSize()
	if size > j.o.MaxRecordBytes {
		if a, err = shortened(a, j.o.MaxRecordBytes); err != nil {
			j.refused.Add(1)
			return pos, next, fmt.Errorf("append %s: %w", a.ID, err)
		}
		j.cut.Add(1)
		size = a.EncodedSize()
	}
	f, err := j.storeEntry(a, size, true)
	if errors.Is(err, ErrFull) { // its bodies can be spared, what it says and closes cannot
		s := bare(a)
		if f, err = j.storeEntry(s, s.EncodedSize(), false); err == nil && s.EncodedSize() < size {
			j.cut.Add(1)
		}
	}
	if err != nil {
		j.refused.Add(1)
	}
	return f.position(), f.next(), err
}

// AppendLine stores a copy of a ledger line that no attempt carries: one that is
// reserved, or closed without a log record. It promises and fails as Append does, but
// that a reserved one is refused as soon as the last file is being written, for what is left
// of that is for closing the lines of calls under way, and with ErrUnwritten.
func (j *Journal) AppendLine(l *ledger.Entry) error {
	size := l.EncodedSize()
	if size > j.o.MaxRecordBytes {
		j.refused.Add(1)
		return fmt.Errorf("append entry %s: %w", l.ID, ErrTooLarge)
	}
	if l.State == ledger.Reserved {
		if err := j.checkCapacity(); err != nil {
			j.refused.Add(1)
			return err
		}
	}
	_, err := j.append(l, size)
	if err == nil {
		j.lines.Add(1)
	}
	return err
}

// AppendCorrection stores a correction with the ledger line that it carries, so that what
// is read of both follows one entry. It promises and fails as AppendLine of a reserved line
// does: a correction can be made later, the closing of a call cannot.
func (j *Journal) AppendCorrection(c *record.Correction) error {
	b, err := c.Encode()
	if err != nil {
		return err
	}
	if len(b) > j.o.MaxRecordBytes {
		err = ErrTooLarge
	} else if err = j.checkCapacity(); err == nil {
		_, err = j.append(encoded(b), len(b))
		return err
	}
	j.refused.Add(1)
	return fmt.Errorf("append correction of %s: %w", c.ID, err)
}

// encoded is an entry in its stored form.
type encoded []byte

// EncodedSize implements entry.
func (e encoded) EncodedSize() int { return len(e) }

// AppendTo implements entry.
func (e encoded) AppendTo(dst []byte) []byte { return append(dst, e...) }

// checkCapacity is why the file that is being written is the last that there may be, nil where it
// is not.
func (j *Journal) checkCapacity() error {
	if err := j.unwrittenError(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.last()
	if err == nil || errors.Is(err, errLimit) || j.closed || j.leavesToRun() {
		return err
	}
	s, err := j.grow()
	if err == nil {
		j.preallocated = append(j.preallocated, s)
	}
	return err
}

// last is ending without another try. Callers hold mu.
func (j *Journal) last() error {
	switch {
	case j.active == nil || len(j.preallocated) > 0:
		return nil
	case j.full():
		return errLimit
	}
	return j.createError
}

// tight reports whether an entry would stand in the second half of the last file. That has
// room for how ten thousand calls ended, without their bodies. Callers hold mu.
func (j *Journal) tight(need int64) bool {
	return j.active != nil && j.active.used+need > int64(len(j.active.data)/2) && j.last() != nil
}

// errLimit is ErrFull for want of Options.MaxBytes.
var errLimit = fmt.Errorf("%w: its files have reached their maximum size", ErrFull)

// append places an entry, and counts it when it is refused.
func (j *Journal) append(e entry, size int) (frame, error) {
	f, err := j.storeEntry(e, size, false)
	if err != nil {
		j.refused.Add(1)
	}
	return f, err
}

// storeEntry stores an entry. One that has something to spare is refused where the rest of the
// last file is for those that have not.
func (j *Journal) storeEntry(e entry, size int, spare bool) (frame, error) {
	f, err := j.reserve(size, spare)
	if err != nil {
		return frame{}, err
	}
	if !f.fill(e) {
		return frame{}, errChanged
	}
	j.appended.Add(1)
	j.bytes.Add(uint64(size))
	if !j.dirty.Load() && j.dirty.CompareAndSwap(false, true) {
		j.wakeRun()
	}
	j.ring()
	return f, nil
}

var errChanged = errors.New("journal entry changed while it was stored")

// ID names the journal, and with it the node: a UUID that was made with the directory. The
// sequence numbers of one journal say nothing in another.
func (j *Journal) ID() string { return j.id }

// reserve takes the next sequence number and room for size bytes.
func (j *Journal) reserve(size int, spare bool) (frame, error) {
	need := frameBytes(size)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return frame{}, ErrClosed
	}
	if spare && j.tight(need) {
		return frame{}, ErrFull
	}
	if j.active == nil || j.active.used+need > int64(len(j.active.data)) {
		if err := j.roll(); err != nil {
			j.refusal = err
			return frame{}, err
		}
	}
	j.refusal = nil
	s := j.active
	f := frame{seg: s, offset: s.used, seq: j.next, size: size}
	f.begin()
	s.used += need
	j.next++
	s.next = j.next
	s.refs.Add(1) // until the frame is filled
	j.requestPrefault(s)
	return f, nil
}

// Err says why entries, or lines that are reserved alone, are refused at present; nil while
// all are taken. It is what health shows, and answers where the disk does not.
func (j *Journal) Err() error {
	if err := j.unwrittenError(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refusal != nil {
		return j.refusal
	}
	return j.last()
}

// Stats returns the figures.
func (j *Journal) Stats() Stats {
	st := Stats{
		Appended: j.appended.Load(), Lines: j.lines.Load(), Bytes: j.bytes.Load(), Refused: j.refused.Load(),
		Cut: j.cut.Load(), Damaged: j.damaged.Load(), Syncs: j.syncs.Load(),
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	st.Lag = j.lag(j.needed().Seq)
	st.Segments, st.Limit = len(j.segments)+len(j.preallocated), j.o.MaxBytes
	for _, s := range slices.Concat(j.segments, j.preallocated) {
		st.Disk += int64(len(s.data))
	}
	return st
}
