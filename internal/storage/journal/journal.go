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
	"time"

	"sluice/internal/kernel/ident"
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
	lock *os.File // of the directory; see lockDir

	appender // writes entries; the journal has its exported methods
	files    segmentSet
	pool     segmentPool
	syncer   syncer
	scanner  scanner
	waiters  waiters
	damage   damageLog

	consumers consumers
	wake      wakeup // of Run
}

// newJournal connects the parts of a journal, which has no files yet. lock is that of its directory.
func newJournal(o Options, lock *os.File, id string) *Journal {
	j := &Journal{o: o, lock: lock, wake: make(wakeup, 1)}
	j.files = segmentSet{o: &j.o}
	j.damage = damageLog{o: &j.o}
	j.syncer = syncer{o: &j.o, files: &j.files}
	j.pool = segmentPool{o: &j.o, files: &j.files, wake: j.wake}
	j.scanner = scanner{files: &j.files, waiters: &j.waiters, damage: &j.damage}
	j.consumers = consumers{o: &j.o, files: &j.files, pool: &j.pool}
	j.appender = appender{
		o: &j.o, id: id, files: &j.files, pool: &j.pool, syncer: &j.syncer, waiters: &j.waiters, wake: j.wake,
	}
	return j
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

// ID returns the name of the journal, and with it of the node: a UUID that was created with the
// directory. The sequence numbers of one journal mean nothing in another.
func (j *Journal) ID() string { return j.id }

// Err returns why entries, or only reserved ledger entries, are rejected at present; nil while all
// are accepted. Health checks use it. It returns even if the disk does not respond.
func (j *Journal) Err() error {
	if err := j.syncer.unwrittenError(); err != nil {
		return err
	}
	j.files.mu.Lock()
	defer j.files.mu.Unlock()
	if j.pool.refusal != nil {
		return j.pool.refusal
	}
	return j.appender.last()
}

// Stats returns the statistics.
func (j *Journal) Stats() Stats {
	st := Stats{
		Appended: j.counters.appended.Load(), Lines: j.counters.lines.Load(), Bytes: j.counters.bytes.Load(), Refused: j.counters.refused.Load(),
		Cut: j.counters.cut.Load(), Damaged: j.damage.damaged.Load(), Syncs: j.syncer.syncs.Load(),
	}
	j.files.mu.Lock()
	defer j.files.mu.Unlock()
	st.Lag = j.files.lag(j.consumers.needed().Seq)
	st.Segments, st.Limit = len(j.files.segments)+len(j.pool.preallocated), j.o.MaxBytes
	for _, s := range slices.Concat(j.files.segments, j.pool.preallocated) {
		st.Disk += int64(len(s.data))
	}
	return st
}
