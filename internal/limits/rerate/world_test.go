package rerate_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/rerate"
	"sluice/internal/limits/spend"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/requestlogtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errDead is what every write of a process says that is not alive any more.
var errDead = errors.New("the process is dead")

// failpoint kills the process at a write, before or behind it.
type failpoint struct {
	write string // "journal", "log" or "meters"; empty for none
	nth   int    // from 1
	after bool
}

// mortal is what the writes of a process ask whether they may.
type mortal struct {
	mu        sync.Mutex // guards what follows
	failpoint failpoint
	done      map[string]int
	dead      bool
}

// write does one write, unless the process is dead or dies of it.
func (m *mortal) write(name string, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done[name]++
	hit := m.failpoint.write == name && m.failpoint.nth == m.done[name]
	if m.dead || hit && !m.failpoint.after {
		m.dead = true
		return errDead
	}
	err := do()
	if hit {
		m.dead = true
		return errDead
	}
	return err
}

// meters is a spend.Store in memory; it outlives processes.
type meters struct {
	mu       sync.Mutex // guards what follows
	position uint64
	used     map[quota.CounterID]int64
	times    map[int64]bool // milliseconds in which something was used; how lines fell into batches does not tell in them
}

func (m *meters) count(from, to uint64, deltas []quota.Delta) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.position {
	case to:
		return nil
	case from:
	default:
		return errors.New("another process counts")
	}
	for _, d := range deltas {
		m.used[d.CounterID()] += d.Units
		m.times[d.UsedAt.UnixMilli()] = true
		for _, r := range d.Runs {
			m.times[r.UsedAtMS] = true
		}
	}
	m.position = to
	return nil
}

// process is a node from its start to its death.
type process struct {
	mortal  mortal
	meters  *meters
	journal *journal.Journal
	logs    *requestlog.Store
	engine  *rerate.Engine
	limiter *quota.Limiter
	end     func() error
}

func (p *process) UsagePosition(context.Context, string) (uint64, error) {
	return p.meters.position, nil
}

func (p *process) UsageSeen(ctx context.Context, node string) (uint64, error) {
	return p.UsagePosition(ctx, node)
}

func (p *process) CountUsage(_ context.Context, _ string, _ time.Time, from, to uint64, deltas []quota.Delta) ([]quota.Meter, error) {
	return nil, p.mortal.write("meters", func() error { return p.meters.count(from, to, deltas) })
}

func (p *process) AppendCorrection(c *record.Correction) error {
	return p.mortal.write("journal", func() error { return p.journal.AppendCorrection(c) })
}

// rows are the log's, which outlive processes. What dies behind a write has written.
type rows struct {
	*requestlogtest.Memory
	process *process
}

func (r rows) Write(ctx context.Context, fill func(requestlog.Sink) (requestlog.Progress, error)) error {
	return r.process.mortal.write("log", func() error { return r.Memory.Write(ctx, fill) })
}

// world is a node over several processes, with an integration whose price changes.
type world struct {
	testing.TB
	dir       string
	memory    *requestlogtest.Memory
	meters    *meters
	prices    *catalog.PriceList
	agreement *catalog.PriceOverrides
	accounts  map[string]*credential.Account
	*process
}

func newWorld(t testing.TB) *world {
	w := &world{
		TB: t, dir: t.TempDir(), memory: new(requestlogtest.Memory), meters: &meters{used: map[quota.CounterID]int64{}, times: map[int64]bool{}},
		prices:   catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin())),
		accounts: map[string]*credential.Account{"openai-main": {Slug: "openai-main", IntegrationID: "integration", Spec: "openai"}},
	}
	w.price("100")
	w.start(failpoint{})
	return w
}

// price lets the integration pay so many dollars for a million tokens of input.
func (w *world) price(dollars string) {
	w.Helper()
	o, err := catalog.ReadOverride("", []byte(`{"pay_as_you_go":{"request_token":{"price":`+dollars+`}}}`))
	if err != nil {
		w.Fatal(err)
	}
	w.agreement = catalog.NewAgreement(catalog.Adjustments{}, map[string]catalog.Override{"gpt-4o-mini": o})
}

func (w *world) FindAccount(_, slug string) *credential.Account { return w.accounts[slug] }

func (w *world) Agreement(a *credential.Account) *catalog.PriceOverrides {
	if a == nil {
		return nil
	}
	return w.agreement
}

// start begins a process that dies at a failpoint.
func (w *world) start(point failpoint) {
	w.Helper()
	p := &process{meters: w.meters, limiter: quota.NewLimiter(), mortal: mortal{failpoint: point, done: map[string]int{}}}
	var err error
	if p.journal, err = journal.Open(journal.Options{Dir: filepath.Join(w.dir, "journal"), SegmentBytes: 64 << 10, MaxRecordBytes: 16 << 10}); err != nil {
		w.Fatal(err)
	}
	files, err := bodies.Open(bodies.Options{Dir: filepath.Join(w.dir, "bodies")})
	if err != nil {
		w.Fatal(err)
	}
	records, lines := p.journal.Records(), p.journal.Lines()
	p.logs = requestlog.New(records, rows{w.memory, p}, files, requestlog.Options{Interval: time.Millisecond, BatchSize: 5})
	follower := spend.New(spend.Options{Node: p.journal.ID(), Lines: lines, Journal: p.journal, Store: p, Limiter: p.limiter, Interval: time.Millisecond, Batch: 4})
	p.engine = rerate.New(rerate.Parts{Logs: p.logs, Journal: p, Prices: w.prices, Accounts: func() rerate.Accounts { return w }, Clock: ident.System{}})
	ctx, cancel := context.WithCancel(w.Context())
	var group sync.WaitGroup
	group.Go(func() { _ = p.logs.Run(ctx) }) // fails when the process dies
	if err := follower.Recover(ctx); err == nil {
		group.Go(func() { _ = follower.Run(ctx) })
	} else if !errors.Is(err, errDead) {
		w.Fatal(err)
	}
	p.end = func() error {
		cancel()
		group.Wait()
		return errors.Join(p.journal.Close(), files.Close())
	}
	w.process = p
}

// stop ends the process: what it was about to write it does not write any more, when it
// is dead.
func (w *world) stop() {
	w.Helper()
	if err := w.end(); err != nil {
		w.Fatal(err)
	}
}

// call puts the n-th chat on record as the data plane does, at the price of now.
func (w *world) call(n int) *record.Attempt {
	w.Helper()
	a := recordtest.Chat(n)
	a.Usage = llm.Usage{InputTokens: int64(100 + n), OutputTokens: 10, Reported: true}
	units := catalog.Count(a.Usage)
	bill := w.prices.Find(a.Provider, a.Model, w.agreement).Cost(&units, nil)
	a.Spend = record.Spend{State: "settled", Cost: bill.Cost, Version: bill.Version}
	w.append(a)
	return a
}

func (w *world) append(a *record.Attempt) {
	w.Helper()
	state := ledger.Settled
	if err := state.UnmarshalText([]byte(cmp.Or(a.Spend.State, "released"))); err != nil {
		w.Fatal(err)
	}
	l := ledger.Entry{ID: a.ID, State: state, RecordedAt: a.Started.Add(a.Duration), Amount: a.Spend.Cost, Charges: []ledger.Charge{
		{Subject: "key", Entry: "dollars", Units: a.Spend.Cost, Cost: true}, {Subject: "key", Entry: "tokens", Units: a.Tokens()},
		{Subject: "policy", ValueKey: "team:search", Units: a.Spend.Cost, Cost: true},
	}}
	a.Closing = l.AppendTo(nil)
	if err := w.journal.Append(a); err != nil {
		w.Fatal(err)
	}
}

// order is one for everything.
func order() rerate.Order {
	return rerate.Order{OrgID: recordtest.Org, From: recordtest.Epoch, To: recordtest.Epoch.Add(time.Hour), By: "admin"}
}

// run re-rates.
func (w *world) run(o rerate.Order) rerate.Outcome {
	w.Helper()
	out, err := w.engine.Run(w.Context(), o, func(rerate.Outcome) error { return nil })
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// costs are what the log says of each attempt.
func (w *world) costs() map[string]int64 {
	w.Helper()
	page, err := w.memory.Billed(w.Context(), record.Query{OrgID: recordtest.Org, Limit: record.MaxLimit})
	if err != nil {
		w.Fatal(err)
	}
	out := map[string]int64{}
	for i := range page.Rows {
		out[page.Rows[i].ID] = page.Rows[i].Spend.Cost
	}
	return out
}

// used is what a counter has.
func (w *world) used(id quota.CounterID) int64 {
	w.meters.mu.Lock()
	defer w.meters.mu.Unlock()
	return w.meters.used[id]
}

// agree waits until budgets have what the log adds up to.
func (w *world) agree() {
	w.Helper()
	if err := w.logs.WaitIngested(w.Context()); err != nil {
		w.Fatal(err)
	}
	costs := w.costs()
	for limit := time.Now().Add(time.Minute); !w.done(costs); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			w.Fatalf("budgets have %+v, the log %v", w.meters.used, costs)
		}
	}
}

// sorted are the ids of calls in order.
func sorted(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
