// Package spend sums what calls cost: it follows the ledger lines in the journal of a
// node and adds the charges of those that were closed to the meters of the store, each
// exactly once.
//
// Exactly once rests on one thing: the position in the journal is stored in the
// transaction that adds the sums. Whatever a crash leaves behind is either wholly before
// that transaction, and added again, or wholly after it. Lines that a process left open
// when it died are closed at the next start with their bound, before anything is served.
package spend

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/background"
	"sluice/internal/ident"
	"sluice/internal/ledger"
	"sluice/internal/quota"
	"sluice/internal/record"
)

// Lines is where lines are read: *journal.Lines.
type Lines interface {
	// Read lends the lines from a position on to visit, until it returns false, and
	// returns the position behind the last entry that was looked at.
	Read(from record.Position, visit func(pos record.Position, l *ledger.Entry) bool) record.Position
	// ReadAt is Read of the lines at some places alone, which are in their order.
	ReadAt(positions []record.Position, visit func(pos record.Position, l *ledger.Entry) bool)
	// Skim is Read with what sums need of each line alone.
	Skim(from record.Position, visit func(pos record.Position, l *ledger.Entry) bool) record.Position
	// Wait returns nil when there is something to read at a position.
	Wait(ctx context.Context, pos record.Position) error
	// Trim says that nothing before a position is needed any more.
	Trim(before record.Position) error
}

// Journal is where the records go that close what was left open, and the copies of lines
// that are open for long: *journal.Journal.
type Journal interface {
	// AppendWhere says where the record stands and where the next entry will.
	AppendWhere(a *record.Attempt) (pos, next record.Position, err error)
	AppendLine(l *ledger.Entry) error
}

// Store keeps the sums: *store.Store.
type Store interface {
	// UsagePosition is up to where a node counted; 0 for a new one.
	UsagePosition(ctx context.Context, node string) (uint64, error)
	// UsageSeen is a UsagePosition that was true lately: it needs no writer.
	UsageSeen(ctx context.Context, node string) (uint64, error)
	// CountUsage adds deltas and moves the position, in one transaction, and returns the
	// meters as they are then. The same call may be made again after an error. now is the
	// clock of this node.
	CountUsage(ctx context.Context, node string, now time.Time, from, to uint64, deltas []quota.Delta) ([]quota.Meter, error)
}

// Limiter knows the meters in memory: *quota.Bank.
type Limiter interface {
	// Sync runs f while nobody else brings meters to the bank.
	Sync(f func() error) error
	// MarkFlushed tells what was stored, and the meters as they are then.
	MarkFlushed(deltas []quota.Delta, meters []quota.Meter)
	// AddUnflushed counts what an earlier run used and the store was not told of.
	AddUnflushed(parts []quota.NodeShare)
}

// Options say what a Follower connects. All but the last six must be given.
type Options struct {
	Node    string // names the journal in the store
	Lines   Lines
	Journal Journal
	Store   Store
	Limiter Limiter

	// Corrected is told, behind Bank, of corrections that were stored; nil when the meters
	// that Bank is told are all that there is to know.
	Corrected func(deltas []quota.Delta, meters []quota.Meter)

	Interval  time.Duration // sums wait this long for company, and longer behind many; 0 means one second
	Batch     int           // closed lines in one transaction; 0 means 100,000
	CopyAfter int           // entries behind an open line until it is copied; 0 means 50,000
	Clock     ident.Clock   // nil means the machine's
	Logger    *slog.Logger  // nil means none
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

// Consumer sums the ledger of a node. Recover is called once, Postpone where it could not
// store, and then Run once; Stats and Err are safe for concurrent use with them.
type Consumer struct {
	o             Options
	openEntries   ledger.OpenEntries
	read          record.Position // everything before is in book, and in sums or the store
	counted       uint64          // position in the store
	located       bool            // that is what the writer said
	deferredUntil uint64          // position before which Postpone told the bank of everything
	unstoredUsage pendingUsage
	unsure        bool // the store may have the sums already
	stored        int  // meters to which the last transaction added
	serving       bool // Recover or Postpone has ended: what is read was settled in the bank too
	entryCopier
	outage *background.OutageLog

	state struct {
		mu      sync.Mutex // guards what follows
		stats   Stats
		failure error
	}
}

// New builds a Follower. Nothing moves until Recover.
func New(o Options) *Consumer {
	o = o.withDefaults()
	return &Consumer{o: o, outage: background.NewOutageLog(o.Logger, "cannot store usage; it stays queued in the journal", "usage storage restored")}
}

// Stats are figures since New, but for Open and Read, which are present ones.
type Stats struct {
	Lines      uint64          // lines, closed or corrections, whose charges are in the store
	Batches    uint64          // transactions
	Failures   uint64          // transactions that failed; they were tried again
	Abandoned  uint64          // lines of an earlier run that were closed with their bound
	Unreserved uint64          // closed lines that nobody had reserved; they count all the same
	Corrected  uint64          // lines that corrected what was charged for others
	Malformed  uint64          // lines without an id or state; they count nothing
	Open       int             // lines that are reserved and not closed
	Read       record.Position // everything before it is counted
}

// Stats returns the figures.
func (f *Consumer) Stats() Stats {
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	return f.state.stats
}

// Err is why sums are not stored at present; nil while they are. Health shows it: the
// journal grows meanwhile, limits hold, and nothing is lost.
func (f *Consumer) Err() error {
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	return f.state.failure
}

// note changes the figures.
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
