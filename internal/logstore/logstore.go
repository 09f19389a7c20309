// Package logstore keeps the request log. It follows the journal of the node,
// moves what stands there into typed rows (package duckdb) and files of bodies
// (package bodies), each record exactly once, and answers queries over them.
//
// Exactly once rests on one thing: the position in the journal and the end of the
// bodies are stored in the transaction that stores the rows. Whatever a crash
// leaves behind is either wholly before that transaction, and done again, or
// wholly after it.
package logstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/background"
	"sluice/internal/fault"
	"sluice/internal/logstore/bodies"
	"sluice/internal/record"
)

// Journal is where records come from: *journal.Records.
type Journal interface {
	// Read lends the records from a position on to visit, until it returns false,
	// and returns the position behind the last one visited.
	// An attempt or a correction is nil.
	Read(from record.Position, visit func(*record.Attempt, *record.Correction) bool) record.Position
	// Wait returns nil when there is something to read at a position.
	Wait(ctx context.Context, position record.Position) error
	// Trim says that records before a position are no longer needed.
	Trim(before record.Position) error
	// Mark appends a correction without an ID whose Operation is id.
	Mark(id string) error
}

// Progress is how far a log store is: what it must know to go on after a crash.
type Progress struct {
	Next      record.Position // in the journal; only Seq is kept
	BodyStore bodies.Mark
}

// Sink is a transaction that stores records. It keeps nothing of what it is given.
type Sink interface {
	// Add stores a row, and where its bodies are. Of the body bytes it does not look at
	// more than their number.
	Add(a *record.Attempt, ref bodies.Ref) error
	// Correct gives a row that was stored in an earlier transaction another cost, and keeps
	// the correction beside it, also of a row that was deleted meanwhile.
	Correct(c *record.Correction) error
}

// BodyStore is a back end that keeps bodies: *bodies.Files. Read is safe for concurrent
// use; the other methods are called by one goroutine at a time.
type BodyStore interface {
	// Resume goes back to a mark: what was added behind it is forgotten.
	Resume(ctx context.Context, m bodies.Mark) error
	// Add takes copies of the bodies of an attempt, which can be read after Flush.
	Add(ctx context.Context, a *record.Attempt) (bodies.Ref, error)
	// Flush makes what was added durable and returns the mark behind it. After an error
	// of Add or Flush comes Resume.
	Flush(ctx context.Context) (bodies.Mark, error)
	// Read returns bodies; bodies.ErrGone when they are kept no longer.
	Read(ctx context.Context, ref bodies.Ref) (bodies.Set, error)
	// Scrub makes a file without the bodies that are not in kept; with none it deletes
	// it, unless it is open: that of the mark, or behind it. References to what is kept
	// stay good. It is safe beside all other methods for a file that is not open. After
	// bodies.ErrWhole it did what can be done.
	Scrub(ctx context.Context, file uint32, open bool, retained []bodies.Span) error
	// Delete deletes objects of single records. One that is not there does no harm.
	Delete(ctx context.Context, keys []string) error
	// Trim deletes the files before a number, and what nodes that are no more left
	// behind before a time. It returns how many there were.
	Trim(ctx context.Context, before uint32, old time.Time) (int, error)
}

// RowStore is a back end that keeps and queries the rows: *duckdb.DB or *clickhouse.DB. It is
// safe for concurrent use, but callers make one write at a time. It has a method for each
// question that the log answers, and package logstoretest a case.
type RowStore interface {
	// Progress is what the last Write stored; the zero Progress at first.
	Progress(ctx context.Context) (Progress, error)
	// Write stores what fill gives to the sink, and the Progress it returns, in one
	// transaction; nothing when fill fails.
	Write(ctx context.Context, fill func(Sink) (Progress, error)) error
	// List answers Store.List.
	List(ctx context.Context, q record.Query) (record.Page, error)
	// Find answers Store.Find; the bodies are at the Ref.
	Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, bodies.Ref, error)
	// RowWithBody returns a page of those attempts that a query selects whose bodies are kept,
	// and where these are; otherwise it is as List, without Count and ByArrival.
	RowWithBody(ctx context.Context, q record.Query) (BodiedPage, error)
	// Billed answers Store.Billed.
	Billed(ctx context.Context, q record.Query) (record.BilledPage, error)
	// Corrections answers Store.Corrections.
	Corrections(ctx context.Context, id string) ([]record.Correction, error)
	// Analyse answers Store.Analyse.
	Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error)
	Retainer
	Feedback
}

// RowWithBody is an attempt, and where its bodies are.
type RowWithBody struct {
	record.Attempt
	Ref bodies.Ref
}

// BodiedPage is a page of attempts whose bodies are kept.
type BodiedPage struct {
	RowStore []RowWithBody
	Next     record.Cursor // empty on the last page
}

// Options tune how records are taken over.
type Options struct {
	Interval  time.Duration // records wait this long for company; 0 means 400 ms
	BatchSize int           // records in one transaction; 0 means 20,000, of which each costs 1 µs less than of 5,000
	BatchMax  int           // bytes of bodies in one transaction; 0 means 32 MiB
	Pause     time.Duration // between parts of what Retain does; 0 means 20 ms
	// SearchBytes is how much of bodies one call of Search looks at, after decompression; 0
	// means 256 MiB.
	SearchBytes int64
	Node        string       // name of this node, as in the references to its bodies
	Logger      *slog.Logger // nil means none
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

// Store is the request log of a node. Its methods are safe for concurrent use;
// Run is called once. It owns neither the journal, nor rows, nor files: their
// opener closes them after Run has returned.
type Store struct {
	o       Options
	journal Journal
	rows    RowStore

	retaining sync.Mutex // one Retain at a time; taken before writing

	writing sync.Mutex // one batch at a time; guards stored, unsure and writes to files
	stored  uint64     // position in the journal of the last transaction seen
	files   BodyStore
	unsure  []string // marks of a batch of which it is not known whether it was stored

	searches chan struct{} // places of those under way
	outage   *background.OutageLog

	state state
	marks ingestWaiters
}

// New builds a Store. Nothing moves until Run.
func New(j Journal, rows RowStore, files BodyStore, o Options) *Store {
	o = o.withDefaults()
	return &Store{
		o: o, journal: j, rows: rows, files: files, searches: make(chan struct{}, maxSearches),
		outage: background.NewOutageLog(o.Logger, "cannot write log store; records stay in the journal", "log store writes restored"),
	}
}

// List returns a page of the log; fault.InvalidParameter for a cursor that is none
// of ours. A record is there within a second of its end while the node keeps up.
// Source: contract/content-and-observability.yaml, GET /logs.
func (s *Store) List(ctx context.Context, q record.Query) (record.Page, error) {
	return s.rows.List(ctx, q)
}

// Find returns one attempt with its bodies; fault.NotFound when there is none or
// when it belongs to another organisation or workspace, fault.Overloaded while an object
// store that keeps them does not serve. An empty workspaceID
// stands for all of the organisation. Bodies that retention deleted are absent, and so are
// those that another node keeps in files of its own, and damaged ones: their Size is there,
// their Bytes are not.
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

// Billed returns a page of the attempts that were put on the ledger and may have cost
// something, with what was charged for them; otherwise it is as List, without Count.
func (s *Store) Billed(ctx context.Context, q record.Query) (record.BilledPage, error) {
	return s.rows.Billed(ctx, q)
}

// Corrections are those of one attempt, the oldest first, without their ledger lines.
func (s *Store) Corrections(ctx context.Context, id string) ([]record.Correction, error) {
	return s.rows.Corrections(ctx, id)
}

// Analyse works out figures over the rows that a query selects, corrections and feedback
// as far as they came here. It refuses with fault.InvalidParameter what Analysis.Validate
// refuses, and more rows than record.MaxGroups.
// Source: contract/content-and-observability.md section 5.
func (s *Store) Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error) {
	return s.rows.Analyse(ctx, a)
}
