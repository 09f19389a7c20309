// Package journal stores the log records of attempts and the ledger entries of a node on disk until
// their consumers have processed them. Start with Journal and its Append. The journal is a queue of
// segment files that are mapped into memory. Append copies an entry into the mapping and returns,
// without a system call or an allocation. The entry then survives the death of the process,
// including kill -9, because the pages belong to the kernel. Run writes entries that are not yet
// consumed to the disk at an interval. A power failure can lose one interval.
//
// There are two consumers, each with its own position: Records for the log store and Lines for the
// ledger. They read entries in the order of their sequence numbers, each as soon as it is complete.
// The numbers grow strictly, also across restarts. An attempt that ends a ledger entry contains the
// closing of that entry, so that both are stored or neither is.
//
// The files belong to one process on one machine. Numbers in them are in its byte order. A second
// Open of the same directory is rejected.
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

	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/ledger"
)

// Errors of Append. Stats.Refused counts each of them.
var (
	ErrFull     = errors.New("journal is full")
	ErrClosed   = errors.New("journal is closed")
	ErrTooLarge = errors.New("entry is too large, even without bodies")
)

// Options configure a journal. Only Dir is required.
type Options struct {
	Dir            string        // created with mode 0700 if absent
	SegmentBytes   int64         // size of one file, reserved completely; 0 means the largest of 16 MiB, 1/4096 of MaxBytes and the space for one record
	MaxRecordBytes int           // maximum size of an entry; the bodies of longer records are truncated; 0 means 4 MiB
	MaxBytes       int64         // maximum size of all files; Append rejects entries beyond it; 0 means 16 GiB
	Sync           time.Duration // interval between writes to the disk; 0 means one second
	Clock          ident.Clock   // nil means the clock of the machine
	Logger         *slog.Logger  // nil means no logging
}

// Limits of the segment files. Writing moves from file to file, and a file is written again once it
// is consumed, which is a second or two later: smaller files cycle through less memory. All files
// are mapped, and the system permits 65,530 mappings per process.
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
		o.SegmentBytes = (minBytes + unitBytes - 1) &^ (unitBytes - 1) // round up to whole units
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

// Journal is an open journal. Its methods are safe for concurrent use. Run should run while there
// is traffic. Close ends everything.
type Journal struct {
	o    Options
	lock *os.File
	id   string

	mu               sync.Mutex // guards the fields below, and the guarded fields of segments
	first            uint64     // first sequence number of this run
	segments         []*segment // oldest first; the last one may be active
	active           *segment   // nil until the first Append
	preallocated     []*segment // created before they are needed, or used before
	idlePreallocated int        // how many of them, at the front, were not needed since dropSpares
	running          bool       // Run is running: spare files are retained
	number           uint64     // of the next file
	next             uint64     // sequence number of the next entry
	readers          []*reader  // the consumers
	tails            []*Tail
	refusal          error     // why entries are rejected at present
	createError      error     // why no file could be created
	retry            time.Time // no new file is tried before this time
	closed           bool

	syncing  sync.Mutex // one Sync at a time; taken before mu
	trimming sync.Mutex // one Trim at a time; taken before mu

	dirty atomic.Bool               // something was appended since the last Sync
	late  atomic.Pointer[time.Time] // since when Run has tried to write entries to the disk; nil while nothing waits
	poke  chan struct{}

	waiters struct { // wakes Wait
		waiting atomic.Bool
		mu      sync.Mutex // guards ch
		ch      chan struct{}
	}

	appended, lines, bytes, refused, cut, damaged, syncs atomic.Uint64
}

// Stats are statistics of a journal. Lag, Segments, Disk and Limit are present values, the others
// are counts since Open.
type Stats struct {
	Appended uint64 // entries
	Lines    uint64 // of them, ledger entries without a record
	Bytes    uint64 // stored size of them
	Refused  uint64 // entries that were rejected
	Cut      uint64 // records whose bodies were truncated
	Damaged  uint64 // entries that could not be read back
	Syncs    uint64 // writes to the disk
	Lag      uint64 // entries that are still needed: those after the position of the slowest consumer
	Segments int    // files, including spare ones
	Disk     int64  // size of these files in bytes
	Limit    int64  // maximum of Disk: Options.MaxBytes
}

// entry is a value that can be appended: an attempt, a ledger entry or a correction.
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
func (j *Journal) Append(a *record.Attempt) error {
	_, _, err := j.AppendWhere(a)
	return err
}

// AppendWhere is Append that also returns the position of the entry, and that of the next one in
// the same file.
func (j *Journal) AppendWhere(a *record.Attempt) (pos, next record.Position, err error) {
	if len(a.Closing) == 0 { // the call was not sent
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
	if errors.Is(err, ErrFull) { // its bodies can be dropped, the rest and the closing cannot
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

// AppendLine stores a copy of a ledger entry that no attempt contains: one that is reserved, or
// closed without a log record. Its guarantees and errors are those of Append, except for a reserved
// entry. That is rejected as soon as the last file is being written, because the rest of that file
// is for closing the entries of calls in progress. It is also rejected with ErrUnwritten.
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

// AppendCorrection stores a correction with the ledger entry that it contains, so that both are
// read from one journal entry. Its guarantees and errors are those of AppendLine for a reserved
// entry: a correction can be made later, the closing of a call cannot.
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

// checkCapacity returns why the file that is being written is the last possible one, nil if it is
// not. It may create the next file to find out. It also returns ErrUnwritten.
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

// last returns why the file that is being written is the last possible one, nil if it is not.
// Unlike checkCapacity it does not try to create a file. Callers hold mu.
func (j *Journal) last() error {
	switch {
	case j.active == nil || len(j.preallocated) > 0:
		return nil
	case j.full():
		return errLimit
	}
	return j.createError
}

// tight reports whether an entry would be in the second half of the last file. That half has
// capacity for the outcomes of ten thousand calls, without their bodies. Callers hold mu.
func (j *Journal) tight(need int64) bool {
	return j.active != nil && j.active.used+need > int64(len(j.active.data)/2) && j.last() != nil
}

// errLimit is ErrFull because the files have reached Options.MaxBytes.
var errLimit = fmt.Errorf("%w: its files have reached their maximum size", ErrFull)

// append stores an entry, and counts it if it is rejected.
func (j *Journal) append(e entry, size int) (frame, error) {
	f, err := j.storeEntry(e, size, false)
	if err != nil {
		j.refused.Add(1)
	}
	return f, err
}

// storeEntry stores an entry. spare marks one with bodies that can be dropped. It is rejected where
// the rest of the last file is for entries without such bodies.
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

// ID returns the name of the journal, and with it of the node: a UUID that was created with the
// directory. The sequence numbers of one journal mean nothing in another.
func (j *Journal) ID() string { return j.id }

// reserve takes the next sequence number and space for size bytes. spare is that of storeEntry.
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
	return f, nil
}

// Err returns why entries, or only reserved ledger entries, are rejected at present; nil while all
// are accepted. Health checks use it. It returns even if the disk does not respond.
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

// Stats returns the statistics.
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
