package metering_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/tokens"
	"sluice/internal/provider"
)

// limits is a limiter that takes everything and records what is taken and settled.
type limits struct {
	defers  bool
	refuse  int // index of the hold to reject, counted from 1
	taken   [][]quota.Hold
	settled [][]quota.Hold
}

func (l *limits) Reserve(_ context.Context, _ time.Time, holds []quota.Hold) (refused int, left int64, retry time.Time, err error) {
	l.taken = append(l.taken, append([]quota.Hold(nil), holds...))
	return l.refuse - 1, 0, time.Time{}, nil
}
func (l *limits) Defers(time.Time, []quota.Hold) bool { return l.defers }
func (l *limits) Settle(_ time.Time, holds []quota.Hold, _ []int64) {
	l.settled = append(l.settled, append([]quota.Hold(nil), holds...))
}
func (l *limits) State(time.Time, *quota.Hold) quota.State { return quota.State{Left: 1 << 60} }

// entries is a journal in memory.
type entries struct{ list []ledger.Entry }

func (e *entries) AppendLine(l *ledger.Entry) error {
	e.list = append(e.list, *l)
	return nil
}

// rig is a meter with fakes, and one call of it.
type rig struct {
	meter   *metering.Meter
	limits  *limits
	entries *entries
	subject *metering.Subject
	call    *bound.Call
	caller  *metering.Caller
	key     *quota.Plan
}

func newRig(t *testing.T) *rig {
	t.Helper()
	specs, err := provider.Load()
	if err != nil {
		t.Fatal(err)
	}
	openai, _ := specs.Find("openai")
	doc := new(jsonedit.Doc)
	if err := jsonedit.Scan([]byte(`{"model": "gpt-4o-mini", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}`), doc); err != nil {
		t.Fatal(err)
	}
	r := &rig{limits: &limits{}, entries: &entries{}, caller: new(metering.Caller)}
	log := slog.New(slog.DiscardHandler)
	r.meter = metering.New(metering.Deps{
		Limiter: r.limits, Journal: r.entries, Counter: tokens.New(), Clock: ident.System{}, Log: log,
		Prices: catalog.NewPriceList(catalog.New(ident.System{}, log, catalog.Builtin())),
	})
	r.call = &bound.Call{Params: call.Params{Doc: doc, Target: &routing.Target{}}, Endpoint: llm.ChatComplete, Spec: openai, Model: "gpt-4o-mini"}
	r.subject = &metering.Subject{RequestID: "request", Integration: quota.NoPlan(), Provider: quota.NoPlan()}
	r.subject.Call = quota.Call{OrgID: "org", KeyID: "key", Provider: "openai", Model: "gpt-4o-mini", Endpoint: llm.ChatComplete}
	hold := quota.Hold{Counter: quota.CounterID{Subject: "key", Entry: "budget"}, Measure: quota.Cost, Limit: 1 << 50}
	r.key = &quota.Plan{Budgets: []quota.Hold{hold}}
	return r
}

func (r *rig) reserve(t *testing.T) *metering.Account {
	t.Helper()
	ctx := context.Background()
	if err := r.meter.Admit(ctx, r.caller, time.Now(), "org", r.key, quota.NoPlan(), true); err != nil {
		t.Fatal(err)
	}
	a := new(metering.Account)
	if err := r.meter.Reserve(ctx, a, r.caller, r.subject, r.call, "attempt"); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMeter_ReservesTheMaximumBeforeTheCall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.reserve(t)

	if !a.IsOpen() || a.MaxCostNano() <= 0 {
		t.Fatalf("open %v, maximum %d", a.IsOpen(), a.MaxCostNano())
	}
	if got := a.Budgets()[0].Amount; got != a.MaxCostNano() {
		t.Errorf("the budget holds %d, want %d", got, a.MaxCostNano())
	}
	if got := a.MaxUsage().Output; got != 100 {
		t.Errorf("the maximum output is %d, want 100", got)
	}
	e := r.entries.list[0]
	if e.State != ledger.Reserved || e.ID != "attempt" || e.RequestID != "request" || e.Amount != a.MaxCostNano() || len(e.Charges) != 1 {
		t.Errorf("the entry is %+v", e)
	}
}

func TestMeter_ClosesTheEntryInTheRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.reserve(t)
	a.SetSent(true)
	var rec record.Attempt
	response := metering.Response{Usage: llm.Usage{InputTokens: 10, OutputTokens: 20, TotalTokens: 30, Reported: true}, Status: 200, Stored: &record.Body{}}
	if !r.meter.Close(a, r.call, metering.Answered, &response, &rec) {
		t.Fatal("the entry was not open")
	}
	r.meter.Settle(a)

	const cost = 10*150 + 20*600 // nano-dollars a token of gpt-4o-mini
	if rec.Spend.Cost != cost || rec.Spend.State != "settled" || rec.Usage.OutputTokens != 20 {
		t.Errorf("the record has %+v, %+v", rec.Spend, rec.Usage)
	}
	if len(rec.Closing) == 0 || len(r.entries.list) != 1 {
		t.Errorf("%d bytes of a closing entry, %d entries", len(rec.Closing), len(r.entries.list))
	}
	if n := len(r.limits.settled); n != 1 || a.IsOpen() {
		t.Errorf("settled %d times, open %v", n, a.IsOpen())
	}
	if r.meter.Close(a, r.call, metering.Answered, &response, &rec) {
		t.Error("the entry was closed twice")
	}
}

func TestMeter_ChargesByOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		how   metering.Outcome
		state ledger.State
	}{
		{"refused", metering.Refused, ledger.Released},
		{"unsent", metering.Unsent, ledger.Released},
		{"in background", metering.InBackground, ledger.Released},
		{"parked", metering.Parked, ledger.Released},
		{"abandoned", metering.Abandoned, ledger.Estimated},
		{"broken", metering.Broken, ledger.Estimated},
		{"abandoned in background", metering.AbandonedBackground, ledger.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			a := r.reserve(t)
			var rec record.Attempt
			r.meter.Close(a, r.call, c.how, &metering.Response{Stored: &record.Body{}}, &rec)
			if rec.Spend.State != c.state.String() {
				t.Errorf("got %s, want %s", rec.Spend.State, c.state)
			}
			if c.state == ledger.Unknown && rec.Spend.Cost != a.MaxCostNano() {
				t.Errorf("the cost is %d, want the maximum %d", rec.Spend.Cost, a.MaxCostNano())
			}
		})
	}
}

// The caller's holds that waited for those of the first attempt are still the caller's after a
// retry has taken the attempt's again.
func TestMeter_RetryLeavesTheHoldsOfTheCaller(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limits.defers = true
	a := r.reserve(t)
	if n := len(r.limits.taken); n != 1 || len(r.limits.taken[0]) != 2 {
		t.Fatalf("taken %d times: %+v", n, r.limits.taken)
	}
	if err := r.meter.Retry(context.Background(), a, r.call, metering.Refused, &metering.Response{Stored: &record.Body{}}); err != nil {
		t.Fatal(err)
	}
	r.meter.Settle(a)
	r.meter.Leave(r.caller)

	last := r.limits.settled[len(r.limits.settled)-1]
	if len(last) != 1 || last[0].Amount != 0 {
		t.Errorf("the caller releases %+v, want a hold of 0", last)
	}
	if n := len(r.entries.list); n != 3 || r.entries.list[1].State != ledger.Released || r.entries.list[2].State != ledger.Reserved || r.entries.list[2].ID == "attempt" {
		t.Errorf("%d entries: %+v", n, r.entries.list)
	}
}

func TestMeter_RefusalByTheCallersLimitIsFinal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limits.refuse = 1
	err := r.meter.Admit(context.Background(), r.caller, time.Now(), "org", r.key, quota.NoPlan(), true)
	if f := fault.From(err); f == nil || !metering.IsCallerRefusal(f) {
		t.Errorf("got %v", err)
	}
}

func TestMeter_FollowingAccountTakesOverTheHolds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.reserve(t), new(metering.Account)
	b.Follow(a)
	if err := r.meter.Open(b, "follower"); err != nil {
		t.Fatal(err)
	}
	a.HandOver()
	r.meter.Settle(a)
	if n := len(r.limits.settled); n != 0 {
		t.Errorf("the first account settled %d times", n)
	}
	r.meter.Settle(b)
	if n := len(r.limits.settled); n != 1 || !b.IsOpen() || !b.IsSent() {
		t.Errorf("settled %d times, open %v, sent %v", n, b.IsOpen(), b.IsSent())
	}
}
