// Package requestlog stores the request log. It follows the journal of the node and
// writes each record exactly once: into typed rows (packages duckdb and clickhouse) and
// files of bodies (package bodies). It also serves queries over them. Start reading at
// Store.
//
// Exactly once rests on one rule: the transaction that stores the rows also stores the
// position in the journal and the end of the bodies. After a crash, work before that
// transaction is repeated, and work after it is complete.
//
// Some results of guardrails arrive after the record of their attempt. They are records of
// their own in the journal and in the rows, and Find joins them to the attempt. So no record
// waits for a guardrail, a crash loses only results that did not exist yet, and no row is
// rewritten. Retention deletes them with their row.
package requestlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog/bodies"
)

// Journal is the source of records: *journal.Records.
type Journal interface {
	// Read passes the records from a position on to visit until visit returns false. It
	// returns the position after the last entry that it read. visit must not retain the record
	// or its bytes.
	Read(from record.Position, visit func(record.Entry) bool) record.Position
	// Wait returns nil as soon as there is something to read at a position.
	Wait(ctx context.Context, position record.Position) error
	// Trim reports that records before a position are no longer needed.
	Trim(before record.Position) error
	// Mark appends a correction without an ID whose Operation is id.
	Mark(id string) error
}

// Progress is the state from which a log store continues after a crash.
type Progress struct {
	Next      record.Position // position in the journal; only Seq is stored
	BodyStore bodies.Mark
}

// Sink is a transaction that stores records. It does not retain its arguments.
type Sink interface {
	// Add stores a row and the reference to its bodies. It reads only the number of body
	// bytes, not the bytes.
	Add(a *record.Attempt, ref bodies.Ref) error
	// Correct changes the cost of a row of an earlier transaction and stores the correction.
	// It stores the correction even if the row was deleted meanwhile.
	Correct(c *record.Correction) error
	// AddHooks stores results of guardrails for a row that may be stored before or after them. Find
	// returns them with the row. Results with an Entry that is already stored replace it.
	AddHooks(h *record.LateHooks) error
}

// BodyStore is a back end that stores bodies: *bodies.Files. Read is safe for concurrent
// use; only one goroutine at a time may call the other methods.
type BodyStore interface {
	// Resume returns to a mark and discards what was added after it.
	Resume(ctx context.Context, m bodies.Mark) error
	// Add copies the bodies of an attempt. They can be read after Flush.
	Add(ctx context.Context, a *record.Attempt) (bodies.Ref, error)
	// Flush makes added bodies durable and returns the mark after them. After an error of
	// Add or Flush the caller must call Resume.
	Flush(ctx context.Context) (bodies.Mark, error)
	// Read returns bodies, or bodies.ErrGone if they are no longer stored.
	Read(ctx context.Context, ref bodies.Ref) (bodies.Set, error)
	// Scrub rewrites a file without the bodies that are not in retained. If retained is
	// empty it deletes the file, unless the file is open. The file of the mark and all
	// files after it are open. References to retained bodies stay valid. For a file that
	// is not open, Scrub may run concurrently with all other methods. With
	// bodies.ErrPartial it removed only what it could.
	Scrub(ctx context.Context, file uint32, open bool, retained []bodies.Span) error
	// Delete deletes objects of single records. A missing object is not an error.
	Delete(ctx context.Context, keys []string) error
	// Trim deletes the files before a number. It also deletes what nodes that no longer
	// exist left from before a time. It returns the number of deleted files.
	Trim(ctx context.Context, before uint32, old time.Time) (int, error)
}

// RowStore is a back end that stores and queries the rows: *duckdb.DB or *clickhouse.DB. It
// is safe for concurrent use, but callers make one write at a time. It has one method for
// each query of the log, and package logstoretest has a case for each.
type RowStore interface {
	// Progress returns what the last Write stored, or the zero Progress before the first.
	Progress(ctx context.Context) (Progress, error)
	// Write stores what fill adds to the sink, and the Progress that fill returns, in one
	// transaction. If fill fails it stores nothing.
	Write(ctx context.Context, fill func(Sink) (Progress, error)) error
	// List serves Store.List.
	List(ctx context.Context, q record.Query) (record.Page, error)
	// Find serves Store.Find, with the results of guardrails that arrived later. The Ref refers to
	// the bodies.
	Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, bodies.Ref, error)
	// RowWithBody returns a page of the selected attempts whose bodies are stored, with the
	// references to the bodies. Otherwise it is like List, without Count and ByArrival.
	RowWithBody(ctx context.Context, q record.Query) (BodiedPage, error)
	// Billed serves Store.Billed.
	Billed(ctx context.Context, q record.Query) (record.BilledPage, error)
	// Corrections serves Store.Corrections.
	Corrections(ctx context.Context, id string) ([]record.Correction, error)
	// Analyse serves Store.Analyse.
	Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error)
	Retainer
	Feedback
}

// RowWithBody is an attempt with the reference to its bodies.
type RowWithBody struct {
	record.Attempt
	Ref bodies.Ref
}

// BodiedPage is a page of attempts whose bodies are stored.
type BodiedPage struct {
	RowStore []RowWithBody
	Next     record.Cursor // empty on the last page
}

// Options tune how records are read from the journal, retained and searched.
type Options struct {
	Interval  time.Duration // how long a record waits for others to join its batch; 0 means 400 ms
	BatchSize int           // records per transaction; 0 means 20,000 (1 µs less per record than with 5,000)
	BatchMax  int           // bytes of bodies per transaction; 0 means 32 MiB
	Pause     time.Duration // pause between two parts of Retain; 0 means 20 ms
	// SearchBytes is the number of body bytes that one call of Search reads, counted after
	// decompression. 0 means 256 MiB.
	SearchBytes int64
	Node        string       // name of this node, as in the references to its bodies
	Logger      *slog.Logger // nil discards log messages
}

func (o Options) withDefaults() Options {
	if o.Interval == 0 {
		o.Interval = 400 * time.Millisecond
	}
	if o.BatchSize == 0 {
		o.BatchSize = 20_000
	}
	if o.BatchMax == 0 {
		o.BatchMax = 32 << 20
	}
	if o.SearchBytes == 0 {
		o.SearchBytes = searchBytes
	}
	if o.Pause == 0 {
		o.Pause = pause
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Store is the request log of a node. Its methods are safe for concurrent use, but
// Run may be called only once. It does not own the journal, the rows or the files. The
// code that opened them closes them after Run has returned.
type Store struct {
	o       Options
	journal Journal
	rows    RowStore

	retaining sync.Mutex // one Retain at a time; locked before writing

	writing sync.Mutex // one batch at a time; guards stored, unsure and writes to files
	stored  uint64     // position in the journal of the last transaction seen
	files   BodyStore
	unsure  []string // marks of a batch that may or may not have been stored

	searches chan struct{} // semaphore of running searches
	outage   *background.OutageLog

	state state
	marks ingestWaiters
}

// New builds a Store. It does not read the journal until Run.
func New(j Journal, rows RowStore, files BodyStore, o Options) *Store {
	o = o.withDefaults()
	return &Store{
		o: o, journal: j, rows: rows, files: files, searches: make(chan struct{}, maxSearches),
		outage: background.NewOutageLog(o.Logger, "cannot write log store; records stay in the journal", "log store writes restored"),
	}
}

// List returns a page of the log. The error is fault.InvalidParameter for an invalid cursor.
// A record is listed within a second of its end, unless the node lags.
// Source: contract/content-and-observability.yaml, GET /logs.
func (s *Store) List(ctx context.Context, q record.Query) (record.Page, error) {
	return s.rows.List(ctx, q)
}

// Find returns one attempt with its bodies. An empty workspaceID means all workspaces of the
// organisation. The error is fault.NotFound if the attempt does not exist or belongs to
// another organisation or workspace. It is fault.Overloaded while the object store of the
// bodies is unavailable. Bodies that retention deleted, bodies in files of another node and
// damaged bodies have their Size but no Bytes.
// Source: contract/content-and-observability.yaml, GET /logs/{logId}.
func (s *Store) Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, error) {
	a, ref, err := s.rows.Find(ctx, orgID, workspaceID, id)
	if err != nil {
		return record.Attempt{}, err
	}
	set, err := s.files.Read(ctx, ref)
	switch {
	case err == nil || errors.Is(err, bodies.ErrGone) || errors.Is(err, bodies.ErrElsewhere):
	case errors.Is(err, bodies.ErrDamaged):
		s.o.Logger.Error("the bodies of this log are damaged", "id", id, "error", err)
	case errors.Is(err, bodies.ErrUnavailable):
		return record.Attempt{}, fault.New(fault.Overloaded, "cannot read the bodies of this log: the object store is unavailable; retry shortly").WithCause(err)
	default:
		return record.Attempt{}, fmt.Errorf("find log %s: %w", id, err)
	}
	set.CopyTo(&a)
	return a, nil
}

// Billed returns a page of the attempts that have a ledger entry and may have cost
// something, with their charges. Otherwise it is like List, without Count.
func (s *Store) Billed(ctx context.Context, q record.Query) (record.BilledPage, error) {
	return s.rows.Billed(ctx, q)
}

// Corrections returns the corrections of one attempt, oldest first, without their ledger
// entries.
func (s *Store) Corrections(ctx context.Context, id string) ([]record.Correction, error) {
	return s.rows.Corrections(ctx, id)
}

// Analyse computes metrics over the rows that a query selects, with the corrections and the
// feedback that have arrived so far. The error is fault.InvalidParameter for an
// analysis that Analysis.Validate rejects, and for more than record.MaxGroups rows.
// Source: contract/content-and-observability.md section 5.
func (s *Store) Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error) {
	return s.rows.Analyse(ctx, a)
}
