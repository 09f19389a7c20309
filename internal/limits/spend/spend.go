// Package spend adds up what calls cost. A Consumer follows the ledger entries in the journal
// of a node and adds the charges of closed entries to the meters of the store, each exactly
// once. Start reading at Consumer.
//
// Exactly once relies on one rule: the position in the journal is stored in the transaction
// that adds the usage. After a crash, an entry is either not part of that transaction and is
// added again, or is fully part of it. Entries that a process left open when it died are
// closed at the next start at their maximum cost, before anything is served.
package spend

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// Lines reads ledger entries: *journal.Lines.
type Lines interface {
	// Read calls visit with the entries from a position on, until it returns false, and
	// returns the position after the last entry read. visit must not retain l.
	Read(from record.Position, visit func(pos record.Position, l *ledger.Entry) bool) record.Position
	// ReadAt is Read for the entries at some positions only, which must be in order.
	ReadAt(positions []record.Position, visit func(pos record.Position, l *ledger.Entry) bool)
	// Skim is Read with only the fields of each entry that totals need.
	Skim(from record.Position, visit func(pos record.Position, l *ledger.Entry) bool) record.Position
	// Wait returns nil when there is something to read at a position.
	Wait(ctx context.Context, pos record.Position) error
	// Trim reports that nothing before a position is needed any more.
	Trim(before record.Position) error
}

// Journal receives the records that close open entries, and the copies of entries that are
// open for long: *journal.Journal.
type Journal interface {
	// AppendWhere returns the position of the record and that of the next entry.
	AppendWhere(a *record.Attempt) (pos, next record.Position, err error)
	AppendLine(l *ledger.Entry) error
}

// Store stores usage: *sqlstore.Store.
type Store interface {
	// UsagePosition returns the position up to which a node counted; 0 for a new node.
	UsagePosition(ctx context.Context, node string) (uint64, error)
	// UsageSeen is a UsagePosition that may be slightly old and does not need a writable
	// store.
	UsageSeen(ctx context.Context, node string) (uint64, error)
	// CountUsage adds deltas and moves the position in one transaction, and returns the meters
	// as they are then. The same call may be repeated after an error. now is the clock of this
	// node.
	CountUsage(ctx context.Context, node string, now time.Time, from, to uint64, deltas []quota.Delta) ([]quota.Meter, error)
}

// Limiter holds the meters in memory: *quota.Limiter.
type Limiter interface {
	// Sync runs f while no other Sync runs.
	Sync(f func() error) error
	// MarkFlushed reports what was stored, and the meters as they are then.
	MarkFlushed(deltas []quota.Delta, meters []quota.Meter)
	// AddUnflushed counts usage of an earlier run that is not stored.
	AddUnflushed(parts []quota.NodeShare)
}

// Options are the dependencies and settings of a Consumer. All except the last six are
// required.
type Options struct {
	Node    string // name of the journal in the store
	Lines   Lines
	Journal Journal
	Store   Store
	Limiter Limiter

	// Corrected is called after Limiter with corrections that were stored. Nil means that the
	// meters passed to Limiter are sufficient.
	Corrected func(deltas []quota.Delta, meters []quota.Meter)

	Interval  time.Duration // usage waits this long, and longer after many meters; 0 means one second
	Batch     int           // closed entries in one transaction; 0 means 100,000
	CopyAfter int           // entries after an open entry until it is copied; 0 means 50,000
	Clock     ident.Clock   // nil means the system clock
	Logger    *slog.Logger  // nil discards logs
}

func (o Options) withDefaults() Options {
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.Batch == 0 {
		o.Batch = 100_000
	}
	if o.CopyAfter == 0 {
		o.CopyAfter = 50_000
	}
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Consumer adds up the ledger of a node. Call Recover once, or Postpone if it cannot store,
// and then Run once. Stats and Err are safe for concurrent use with them.
type Consumer struct {
	o             Options
	openEntries   ledger.OpenEntries
	read          record.Position // everything before is in openEntries, and in unstoredUsage or the store
	counted       uint64          // position in the store
	located       bool            // counted was read from the writer
	deferredUntil uint64          // position before which Postpone reported everything to the limiter
	unstoredUsage pendingUsage
	unsure        bool // the store may already have unstoredUsage
	stored        int  // meters that the last transaction updated
	serving       bool // Recover or Postpone is done: entries that are read now were also settled in the limiter
	entryCopier
	outage *background.OutageLog

	state struct {
		mu      sync.Mutex // guards the fields below
		stats   Stats
		failure error
	}
}

// New returns a Consumer. It does nothing until Recover.
func New(o Options) *Consumer {
	o = o.withDefaults()
	return &Consumer{o: o, outage: background.NewOutageLog(o.Logger, "cannot store usage; it stays queued in the journal", "usage storage restored")}
}

// Stats are counts since New, except Open and Read, which are current values.
type Stats struct {
	Lines      uint64          // closed entries and corrections whose charges are in the store
	Batches    uint64          // transactions
	Failures   uint64          // transactions that failed and were retried
	Abandoned  uint64          // entries of an earlier run that were closed at their maximum cost
	Unreserved uint64          // closed entries without a reservation; they count too
	Corrected  uint64          // entries that corrected earlier charges
	Malformed  uint64          // entries without an id or state; they count nothing
	Open       int             // entries that are reserved and not closed
	Read       record.Position // everything before it is counted
}

// Stats returns the current statistics.
func (f *Consumer) Stats() Stats {
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	return f.state.stats
}

// Err returns why usage cannot be stored at present, or nil. Health reports it. Meanwhile the
// journal grows, limits apply, and nothing is lost.
func (f *Consumer) Err() error {
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	return f.state.failure
}

// note updates the statistics.
func (f *Consumer) note(change func(*Stats)) {
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	change(&f.state.stats)
}

func (f *Consumer) setFailure(err error) {
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	f.state.failure = err
	if err == nil {
		f.outage.Recovered()
		return
	}
	f.state.stats.Failures++
}
