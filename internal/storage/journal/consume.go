package journal

import (
	"context"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
)

// reader is a consumer. Nothing after its position is deleted.
type reader struct {
	consumers *consumers
	files     *segmentSet
	scanner   *scanner
	done      record.Position // guarded by segmentSet.mu
}

func (j *Journal) reader() reader {
	return reader{consumers: &j.consumers, files: &j.files, scanner: &j.scanner}
}

// enlist makes the journal retain what r has not consumed.
func (c *consumers) enlist(r *reader) {
	c.files.mu.Lock()
	defer c.files.mu.Unlock()
	c.readers = append(c.readers, r)
}

// Trim reports that the consumer no longer needs anything before a position, because it is
// safe elsewhere. Files that no consumer needs are deleted.
func (r *reader) Trim(before record.Position) error { return r.consumers.trim(r, before) }

// Lag returns the number of entries, of both kinds, after the position of the last Trim.
func (r *reader) Lag() uint64 {
	r.files.mu.Lock()
	defer r.files.mu.Unlock()
	return r.files.lag(r.done.Seq)
}

// Remaining returns the number of entries, of both kinds, from a position on.
func (r *reader) Remaining(pos record.Position) uint64 {
	r.files.mu.Lock()
	defer r.files.mu.Unlock()
	return r.files.lag(pos.Seq)
}

// Records is the consumer of log records: the log store. Its methods are safe for concurrent
// use.
type Records struct {
	reader
	appender *appender // for Mark
}

// Records adds a consumer of log records. Add all consumers after Open and before any of them
// trims, because the journal retains what they need only from then on.
func (j *Journal) Records() *Records {
	r := &Records{reader: j.reader(), appender: &j.appender}
	j.consumers.enlist(&r.reader)
	return r
}

// Read calls visit with the log records from a position on, in order, until there are no more
// or visit returns false. It returns the position after the last entry read. The record and its
// bytes are valid only during the call; its strings may be retained. Entries that cannot be read are skipped and
// counted. Positions may be read again until they are trimmed.
func (r *Records) Read(from record.Position, visit func(record.Entry) bool) record.Position {
	return r.scanner.readRecords(from, visit)
}

func (sc *scanner) readRecords(from record.Position, visit func(record.Entry) bool) record.Position {
	var a record.Attempt
	return sc.scan(from, sc.throttled(func(f frame) bool {
		stored := f.payload()
		switch {
		case !f.intact():
		case ledger.Stored(stored):
			return true
		case record.IsCorrection(stored):
			if c := new(record.Correction); c.Decode(stored) == nil {
				return visit(record.Entry{Correction: c})
			}
		case record.IsLateHooks(stored):
			if h := new(record.LateHooks); h.Decode(stored) == nil {
				return visit(record.Entry{Hooks: h})
			}
		case a.Decode(stored) == nil:
			return visit(record.Entry{Attempt: &a})
		}
		sc.damage.recordCorrupt(f)
		return true
	}))
}

// Mark appends a Correction without an ID whose Operation is id. A consumer that has read it
// has read every record that was appended before.
func (r *Records) Mark(id string) error {
	return r.appender.AppendCorrection(&record.Correction{Operation: id})
}

// Wait returns when there is a log record at or after a position, with ErrClosed after Close,
// or with the error of ctx if that ends first. It does not poll.
func (r *Records) Wait(ctx context.Context, pos record.Position) error {
	return r.scanner.waitRecord(ctx, pos)
}

func (sc *scanner) waitRecord(ctx context.Context, pos record.Position) error {
	return sc.wait(ctx, pos, func(f frame) bool { return !ledger.Stored(f.payload()) })
}

// Lines is the consumer of ledger entries. Its methods are safe for concurrent use.
type Lines struct {
	reader
	sets ledger.CounterSetCache
}

// Lines adds a consumer of ledger entries, as Records adds one of log records.
func (j *Journal) Lines() *Lines {
	r := &Lines{reader: j.reader()}
	j.consumers.enlist(&r.reader)
	return r
}

// Read calls visit with the ledger entries from a position on, including those in attempts and
// corrections, and the position of each. Otherwise it works like Records.Read. The entry is
// valid only during the call, except its strings.
func (r *Lines) Read(from record.Position, visit func(pos record.Position, l *ledger.Entry) bool) record.Position {
	return r.read(from, (*ledger.Entry).Decode, visit)
}

// Skim is Read with only the fields that totals need (ledger.Entry.Skim).
func (r *Lines) Skim(from record.Position, visit func(pos record.Position, l *ledger.Entry) bool) record.Position {
	return r.read(from, (*ledger.Entry).Skim, visit)
}

// ReadAt is Read for the entries at some positions only, which must be in order. Positions
// without an entry are skipped.
func (r *Lines) ReadAt(positions []record.Position, visit func(pos record.Position, l *ledger.Entry) bool) {
	if len(positions) == 0 {
		return
	}
	read := r.decodeVisitor((*ledger.Entry).Decode, visit)
	r.scanner.scan(positions[0], r.scanner.throttled(func(f frame) bool {
		for len(positions) > 0 && positions[0].Seq < f.seq {
			positions = positions[1:]
		}
		return len(positions) > 0 && (positions[0].Seq > f.seq || read(f))
	}))
}

func (r *Lines) read(from record.Position, decode func(*ledger.Entry, []byte) error, visit func(pos record.Position, l *ledger.Entry) bool) record.Position {
	return r.scanner.scan(from, r.scanner.throttled(r.decodeVisitor(decode, visit)))
}

// decodeVisitor returns a function that decodes the ledger entries of frames for visit.
func (r *Lines) decodeVisitor(decode func(*ledger.Entry, []byte) error, visit func(pos record.Position, l *ledger.Entry) bool) func(frame) bool {
	l := ledger.Entry{Known: &r.sets}
	return func(f frame) bool {
		stored := f.closing()
		if stored == nil {
			return true
		}
		if decode(&l, stored) != nil {
			r.scanner.damage.recordCorrupt(f)
			return true
		}
		return visit(f.position(), &l)
	}
}

// Wait returns when there is an entry of either kind at or after a position, or as
// Records.Wait does.
func (r *Lines) Wait(ctx context.Context, pos record.Position) error {
	return r.scanner.wait(ctx, pos, func(frame) bool { return true })
}

// closing returns the stored ledger entry in a frame, its own or that of its attempt or
// correction; nil for none. Records reports frames that cannot be read.
func (f frame) closing() []byte {
	if !f.intact() {
		return nil
	}
	stored := f.payload()
	if ledger.Stored(stored) {
		return stored
	}
	stored, err := record.ClosingOf(stored)
	if err != nil {
		return nil
	}
	return stored
}
