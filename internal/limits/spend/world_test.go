package spend_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/spend"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/sqlstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// chooser draws a number from 0 to below n.
type chooser func(name string, n int) int

// memory is a Store that keeps its promise and nothing on disk.
type memory struct {
	position map[string]uint64
	used     map[string]int64 // by carrier
}

func newMemory() *memory { return &memory{map[string]uint64{}, map[string]int64{}} }

func (m *memory) usedOf(subjectID string) int64 { return m.used[subjectID] }

func (m *memory) UsagePosition(_ context.Context, node string) (uint64, error) {
	return m.position[node], nil
}

// UsageSeen is that of a replica, as far behind as can be.
func (m *memory) UsageSeen(_ context.Context, node string) (uint64, error) { return 0, nil }

func (m *memory) CountUsage(_ context.Context, node string, _ time.Time, from, to uint64, deltas []quota.Delta) ([]quota.Meter, error) {
	switch position := m.position[node]; {
	case position != to && position != from:
		return nil, fault.Newf(fault.Conflict, "at %d, not %d", position, from)
	case position != to:
		for _, d := range deltas {
			m.used[d.SubjectID] += d.Units
		}
		m.position[node] = to
	}
	var meters []quota.Meter
	for _, d := range deltas {
		meters = append(meters, quota.Meter{Subject: quota.Subject{ID: d.SubjectID}, BudgetKey: d.BudgetKey, Used: m.used[d.SubjectID]})
	}
	return meters, nil
}

// sql is a store on an engine, in which each carrier has one budget.
type sql struct{ *sqlstore.Store }

func (s sql) add(t testing.TB, subjectID string) {
	t.Helper()
	err := s.InTx(t.Context(), func(tx resource.Tx) error {
		return s.AddMeter(t.Context(), tx, quota.Meter{Subject: quota.Subject{Kind: "api_key", ID: subjectID, OrgID: ident.NewID()}, BudgetKey: "budget", Limit: 1 << 40})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s sql) usedOf(t testing.TB, subjectID string) int64 {
	t.Helper()
	list, err := s.Meters(t.Context(), s, quota.MeterQuery{SubjectID: subjectID})
	if err != nil || len(list) != 1 {
		t.Fatalf("meters of %s: %v, %v", subjectID, list, err)
	}
	return list[0].Used
}

var errFlaky = errors.New("the connection broke")

// flaky is a Store whose next call fails: before it does anything, or behind it. The
// world goes on during a call. While it is away it takes no writes.
type flaky struct {
	spend.Store
	before, after bool
	during        func()
	down          bool
}

func (s *flaky) UsagePosition(ctx context.Context, node string) (uint64, error) {
	if s.down {
		return 0, fault.New(fault.ReadOnly, "")
	}
	return s.Store.UsagePosition(ctx, node)
}

func (s *flaky) CountUsage(ctx context.Context, node string, now time.Time, from, to uint64, deltas []quota.Delta) ([]quota.Meter, error) {
	before, after := s.before, s.after
	s.before, s.after = false, false
	if during := s.during; during != nil {
		s.during = nil
		during()
	}
	if before {
		return nil, errFlaky
	}
	if s.down {
		return nil, fault.New(fault.ReadOnly, "")
	}
	meters, err := s.Store.CountUsage(ctx, node, now, from, to, deltas)
	if after {
		return nil, errFlaky
	}
	return meters, err
}

// theOrg is whose everything in the world is.
const theOrg = "org"

// recordingLimiter keeps what was settled and is not stored, and what it is told of the meters.
type recordingLimiter struct {
	pending map[string]int64
	meters  map[string]int64
	nobodys int // parts of which it was not told whose they are
}

func (b *recordingLimiter) Sync(f func() error) error { return f() }

func (b *recordingLimiter) MarkFlushed(deltas []quota.Delta, meters []quota.Meter) {
	for _, d := range deltas {
		b.pending[d.SubjectID] -= d.Units
	}
	for _, m := range meters {
		b.meters[m.ID] = m.Used
	}
}

// AddUnflushed adds what is pending from an earlier run.
func (b *recordingLimiter) AddUnflushed(parts []quota.NodeShare) {
	for i := range parts {
		b.pending[parts[i].Counter.Subject] += parts[i].Used
		if parts[i].Org != theOrg {
			b.nobodys++
		}
	}
}

// world is a node that serves, crashes and starts again, and what its budgets must show.
type world struct {
	failer
	dir      string
	store    *flaky
	stored   func(subjectID string) int64
	carriers []string
	journal  *journal.Journal
	records  *journal.Records
	follower *spend.Consumer
	limiter  *recordingLimiter

	open        []*ledger.Entry
	serial      int
	corrected   int              // corrections that were appended and not read by the log store
	want        map[string]int64 // by carrier
	interrupted map[string]bool  // lines whose records must come
	consumed    record.Position  // by the log store
}

func newWorld(t failer, dir string, s spend.Store, stored func(subjectID string) int64, carriers ...string) *world {
	w := &world{stored: stored, failer: t, dir: dir, store: &flaky{Store: s}, carriers: carriers, want: map[string]int64{}, interrupted: map[string]bool{}}
	w.start(func(string, int) int { return 0 })
	return w
}

// start opens the journal and recovers, however often that fails. Where the store takes no
// writes, before or in the middle, that is put off.
func (w *world) start(pick chooser) {
	w.Helper()
	var err error
	w.journal, err = journal.Open(journal.Options{Dir: filepath.Join(w.dir, "journal"), SegmentBytes: 32 << 10, MaxRecordBytes: 8 << 10, MaxBytes: 1 << 30})
	if err != nil {
		w.Fatal(err)
	}
	w.limiter = &recordingLimiter{pending: map[string]int64{}, meters: map[string]int64{}}
	w.records = w.journal.Records()
	w.follower = spend.New(spend.Options{
		Node: w.journal.ID(), Lines: w.journal.Lines(), Journal: w.journal, Store: w.store, Limiter: w.limiter, Batch: 3, CopyAfter: 4, Clock: fixed{},
	})
	for again := true; again; again = err != nil {
		w.store.before, w.store.after = pick("fails before", 4) == 1, pick("fails behind", 4) == 1
		w.store.down = pick("away", 4) == 1
		err = w.follower.Recover(context.Background())
		if fault.Has(err, fault.ReadOnly) {
			w.postpone()
			err = nil
		}
		if err != nil && !errors.Is(err, errFlaky) {
			w.Fatal(err)
		}
	}
	w.store.before, w.store.after, w.store.down = false, false, false
}

// postpone has the bank know everything that was used before anything is served.
func (w *world) postpone() {
	w.Helper()
	if err := w.follower.Postpone(context.Background()); err != nil {
		w.Fatal(err)
	}
	if w.follower.Err() == nil {
		w.Fatal("nothing shows that sums are not stored")
	}
	for _, c := range w.carriers {
		if got := w.limiter.pending[c] + w.stored(c); got < w.want[c] {
			w.Fatalf("limits know %d used of %s, want at least %d", got, c, w.want[c])
		}
	}
}

type fixed struct{}

func (fixed) Now() time.Time { return noon }

// stop ends the process without a word: lines that are open get the bound.
func (w *world) stop() {
	w.Helper()
	for _, l := range w.open {
		w.interrupted[l.ID] = true
		w.count(l)
	}
	w.open = nil
	if err := w.journal.Close(); err != nil {
		w.Fatal(err)
	}
}

func (w *world) count(l *ledger.Entry) {
	for _, c := range l.AllCharges() {
		w.want[c.Subject] += c.Units
	}
}

func (w *world) reserve(pick chooser) {
	w.Helper()
	w.serial++
	l := &ledger.Entry{ID: ident.NewID(), RequestID: ident.NewID(), State: ledger.Reserved, RecordedAt: noon, OrgID: theOrg, Provider: "openai", Amount: 100}
	for range 1 + pick("holds", 3) {
		l.Charges = append(l.Charges, ledger.Charge{Subject: w.carriers[pick("carrier", len(w.carriers))], Entry: "budget", Units: int64(100 + pick("bound", 100))})
	}
	if pick("set", 2) == 0 {
		w.asSet(l, pick)
	}
	if err := w.journal.AppendLine(l); err != nil {
		w.Fatal(err)
	}
	w.open = append(w.open, l)
}

// asSet gives a line a set in place of its charges, as calls with many budgets have.
func (w *world) asSet(l *ledger.Entry, pick chooser) {
	var counters []ledger.Counter
	for i, c := range l.Charges {
		counters = append(counters, ledger.Counter{Subject: c.Subject, Entry: c.Entry, Counts: ledger.Counts(i)})
	}
	l.Set, l.Charges = ledger.NewSet(counters), nil
	for i := range l.Amounts {
		l.Amounts[i] = int64(100 + pick("bound", 100))
	}
}

// end closes a line, with the record of its attempt or alone.
func (w *world) end(pick chooser) {
	w.Helper()
	if len(w.open) == 0 {
		return
	}
	i := pick("which", len(w.open))
	l := w.open[i]
	w.open = append(w.open[:i], w.open[i+1:]...)
	l.State = ledger.Settled + ledger.State(pick("state", 3))
	used := func() int64 {
		if units := int64(pick("used", 100)); l.State != ledger.Released {
			return units
		}
		return 0
	}
	for i := range l.Charges {
		l.Charges[i].Units = used()
	}
	for i := range l.Amounts {
		l.Amounts[i] = used()
	}
	for _, c := range l.AllCharges() {
		w.limiter.pending[c.Subject] += c.Units
	}
	var err error
	if pick("alone", 3) == 0 {
		err = w.journal.AppendLine(l)
	} else {
		err = w.journal.Append(&record.Attempt{ID: l.ID, Started: noon, Outcome: record.OK, Closing: l.AppendTo(nil)})
	}
	if err != nil {
		w.Fatal(err)
	}
	w.count(l)
}

// correct takes back some of what was used, or adds to it.
func (w *world) correct(pick chooser) {
	w.Helper()
	subjectID := w.carriers[pick("carrier", len(w.carriers))]
	l := &ledger.Entry{ID: ident.NewID(), State: ledger.Corrected, RecordedAt: noon, OrgID: theOrg, Charges: []ledger.Charge{{Subject: subjectID, Entry: "budget", Units: int64(pick("more", 200) - 100), Cost: true}}}
	w.corrected++
	if err := w.journal.AppendCorrection(&record.Correction{ID: l.ID, Closing: l.AppendTo(nil)}); err != nil {
		w.Fatal(err)
	}
	w.count(l)
}

// flush is a round of the follower, which may fail.
func (w *world) flush(pick chooser) {
	w.Helper()
	how := pick("how", 4)
	w.store.before, w.store.after = how == 1, how == 2
	alone := true
	if pick("during", 2) == 0 {
		w.store.during = func() { alone = false; w.end(pick) }
	}
	err := w.follower.CatchUp(context.Background())
	w.store.before, w.store.after, w.store.during = false, false, nil
	if err != nil && !errors.Is(err, errFlaky) || (err != nil) != (w.follower.Err() != nil) {
		w.Fatalf("flush: %v; shown: %v", err, w.follower.Err())
	}
	if err == nil && alone {
		w.checkStored()
	}
}

// checkStored compares the bank with the store behind a flush.
func (w *world) checkStored() {
	w.Helper()
	if w.limiter.nobodys > 0 {
		w.Fatalf("of %d parts the bank was not told whose they are", w.limiter.nobodys)
	}
	for id, units := range w.limiter.pending {
		if units != 0 {
			w.Fatalf("%d units of %s are pending behind a flush", units, id)
		}
	}
	if got, want := w.follower.Stats().Open, len(w.open); got != want {
		w.Fatalf("%d lines are open, want %d", got, want)
	}
}

// consume is the log store: it sees the records of interrupted calls, each once.
func (w *world) consume() {
	w.Helper()
	w.consumed = w.records.Read(w.consumed, func(e record.Entry) bool {
		a := e.Attempt
		if a == nil {
			w.corrected--
			return true
		}
		if a.Outcome == record.Interrupted {
			if !w.interrupted[a.ID] || a.Spend.State != "unknown" || a.Spend.Cost != 100 || !a.Started.Equal(noon) {
				w.Fatalf("a record that must not be: %s, %+v, %v", a.ID, a.Spend, a.Started)
			}
			delete(w.interrupted, a.ID)
		}
		return true
	})
	if err := w.records.Trim(w.consumed); err != nil {
		w.Fatal(err)
	}
}

func (w *world) step(pick chooser) {
	w.Helper()
	switch pick("step", 16) {
	case 0, 1, 2, 3:
		w.reserve(pick)
	case 4, 5, 6:
		w.end(pick)
	case 7, 8, 9:
		w.flush(pick)
	case 10, 11, 12:
		w.consume()
	case 13, 14:
		w.correct(pick)
	default:
		w.stop()
		w.start(pick)
	}
}

// finish stops, starts once more, and compares with what the store has of each carrier.
func (w *world) finish() {
	w.Helper()
	w.stop()
	w.start(func(string, int) int { return 0 })
	got := map[string]int64{}
	for _, c := range w.carriers {
		if n := w.stored(c); n != 0 {
			got[c] = n
		}
	}
	for c, n := range w.want {
		if n == 0 {
			delete(w.want, c)
		}
	}
	if d := cmp.Diff(w.want, got); d != "" {
		w.Fatalf("used (-want +got):\n%s", d)
	}
	w.consume()
	if len(w.interrupted) > 0 || w.corrected != 0 {
		w.Fatalf("%d interrupted calls have no record, %d corrections were not read", len(w.interrupted), w.corrected)
	}
	if err := w.journal.Close(); err != nil {
		w.Fatal(err)
	}
}
