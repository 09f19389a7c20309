package rerate_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/rerate"
)

const calls = 12

// wrong is a world whose calls were billed at a hundred dollars for a million tokens, and
// whose price is one dollar now. It returns what each cost and costs now.
func wrong(t *testing.T) (w *world, before, after map[string]int64) {
	w = newWorld(t)
	before, after = map[string]int64{}, map[string]int64{}
	for n := range calls {
		a := w.call(n)
		before[a.ID] = a.Spend.Cost
		after[a.ID] = a.Spend.Cost - a.Usage.InputTokens*99_000
	}
	w.agree()
	if got := w.costs(); !cmp.Equal(got, before) {
		t.Fatalf("recorded (-want +got):\n%s", cmp.Diff(before, got))
	}
	w.price("1")
	return w, before, after
}

func TestPricesAreCorrected(t *testing.T) {
	t.Parallel()
	w, before, after := wrong(t)
	defer w.stop()
	tokens := w.used(quota.CounterID{Subject: "key", Entry: "tokens"})
	times := len(w.meters.times)
	o := order()
	plan, err := w.engine.Try(t.Context(), o)
	if err != nil || plan.Attempts != calls || plan.Changed != calls || plan.Before-plan.After <= 0 || len(plan.Changes) != calls {
		t.Errorf("plan %+v, %v", plan, err)
	}
	if got := w.costs(); !cmp.Equal(got, before) {
		t.Errorf("a dry run changed (-want +got):\n%s", cmp.Diff(before, got))
	}
	out := w.run(o)
	plan.Operation = out.Operation
	if !cmp.Equal(plan, out) {
		t.Errorf("done is not what was planned (-planned +done):\n%s", cmp.Diff(plan, out))
	}
	if got := w.costs(); !cmp.Equal(got, after) {
		t.Errorf("corrected (-want +got):\n%s", cmp.Diff(after, got))
	}
	w.agree()
	if got := w.used(quota.CounterID{Subject: "key", Entry: "tokens"}); got != tokens {
		t.Errorf("the budget of tokens has %d, want %d as before", got, tokens)
	}
	if len(w.meters.times) != times {
		t.Errorf("corrections count at %d other times than the calls", len(w.meters.times)-times)
	}
	for _, id := range sorted(before) {
		list, err := w.logs.Corrections(t.Context(), id)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d corrections of %s, %v", len(list), id, err)
		}
		c := list[0]
		if c.Before.Cost != before[id] || c.After.Cost != after[id] || c.Before.Version == "" || c.Before.Version == c.After.Version || c.By != "admin" || c.Operation != out.Operation || c.RatedAt.IsZero() || c.After.Terms == "" {
			t.Errorf("the trail of %s is %+v", id, c)
		}
	}
	if again := w.run(o); again.Changed != 0 || again.Before != again.After || again.Attempts != calls {
		t.Errorf("again: %+v", again)
	}
	w.price("2")
	w.run(o)
	w.agree()
}

// kills are all writes of a re-rating of twelve calls, each before and behind it.
func kills() (out []failpoint) {
	for write, times := range map[string]int{"journal": calls, "log": 6, "meters": 4} {
		for n := 1; n <= times; n++ {
			out = append(out, failpoint{write, n, false}, failpoint{write, n, true})
		}
	}
	return out
}

// Whatever write the process dies at: each attempt is corrected wholly or not at all, the
// budgets are what the log adds up to, and the same order corrects the rest.
func TestKillsLeaveEachAttemptWhole(t *testing.T) {
	t.Parallel()
	died := 0
	for _, point := range kills() {
		w, before, after := wrong(t)
		w.stop()
		w.start(point)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := w.engine.Run(ctx, order(), func(rerate.Outcome) error { return nil })
			ended <- err
		}()
		err := w.outlive(ended, cancel)
		if err != nil && !w.isDead() {
			t.Fatalf("%+v: %v", point, err)
		}
		for limit := time.Now().Add(time.Minute); !w.isDead() && !w.done(after) && time.Now().Before(limit); time.Sleep(time.Millisecond) {
		}
		if w.isDead() {
			died++
		}
		w.stop()
		w.start(failpoint{})
		w.agree()
		for id, cost := range w.costs() {
			if cost != before[id] && cost != after[id] {
				t.Errorf("%+v: %s costs %d, neither %d nor %d", point, id, cost, before[id], after[id])
			}
		}
		w.run(order())
		w.agree()
		if got := w.costs(); !cmp.Equal(got, after) {
			t.Errorf("%+v: in the end (-want +got):\n%s", point, cmp.Diff(after, got))
		}
		if again := w.run(order()); again.Changed != 0 {
			t.Errorf("%+v: again: %+v", point, again)
		}
		w.stop()
	}
	if died < 2*calls {
		t.Errorf("only %d of %d failpoints were met", died, len(kills()))
	}
}

// outlive waits until an order has ended. Nobody answers behind a death: then it is
// cancelled.
func (w *world) outlive(ended <-chan error, cancel func()) error {
	defer cancel()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Millisecond):
			if w.isDead() {
				cancel()
			}
		}
	}
}

// done reports whether the budgets have what all calls cost together.
func (w *world) done(costs map[string]int64) bool {
	want := int64(0)
	for _, cost := range costs {
		want += cost
	}
	return w.used(quota.CounterID{Subject: "key", Entry: "dollars"}) == want && w.used(quota.CounterID{Subject: "policy", ValueKey: "team:search"}) == want
}

func (p *process) isDead() bool {
	p.mortal.mu.Lock()
	defer p.mortal.mu.Unlock()
	return p.mortal.dead
}

// What cannot be billed again stays as it is and is told apart.
func TestWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.stop()
	put := func(n int, change func(*record.Attempt)) {
		a := recordtest.Chat(n)
		a.Spend = record.Spend{State: "settled", Cost: 777}
		change(a)
		w.append(a)
	}
	put(0, func(a *record.Attempt) { a.ProviderID = "removed" })
	put(1, func(a *record.Attempt) { a.Spend.State = ledger.Unknown.String() })
	put(2, func(a *record.Attempt) { a.Spend.State = ledger.Released.String() })
	put(3, func(a *record.Attempt) { a.Model = "gpt-none" })
	put(4, func(a *record.Attempt) { a.Spend.Basis = "{" })
	put(5, func(a *record.Attempt) { a.Spend.Basis = `{"model":"gpt-none"}` })
	put(6, func(a *record.Attempt) { a.OrgID = "another" })
	if err := w.logs.WaitIngested(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := w.run(order())
	if out.Attempts != 2 || out.Unpriced != 2 || out.Left != 3 || out.Changed != 0 || out.Before != out.After || out.Before != 2*777 {
		t.Errorf("%+v, want two without a price and three that are left", out)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	w, _, _ := wrong(t)
	defer w.stop()
	w.accounts["openai-second"] = &credential.Account{Slug: "openai-second", IntegrationID: "another", Spec: "openai"}
	for n, change := range []func(*record.Attempt){
		func(a *record.Attempt) { a.WorkspaceID = "second" }, func(a *record.Attempt) { a.ProviderID = "" },
		func(a *record.Attempt) { a.ProviderID = "openai-second" }, func(a *record.Attempt) { a.Provider = "anthropic" }, func(a *record.Attempt) { a.Model = "gpt-4o" },
	} {
		a := recordtest.Chat(100 + n)
		a.Spend = record.Spend{State: "settled", Cost: 777}
		change(a)
		w.append(a)
	}
	first := recordtest.Chat(0).Started
	for name, tt := range map[string]struct {
		filter func(*rerate.Order)
		want   int
	}{
		"all":           {func(*rerate.Order) {}, calls + 5},
		"a range":       {func(o *rerate.Order) { o.From, o.To = first, recordtest.Chat(3).Started }, 3},
		"a workspace":   {func(o *rerate.Order) { o.WorkspaceID = "second" }, 1},
		"a provider":    {func(o *rerate.Order) { o.Provider = "anthropic" }, 1},
		"a model":       {func(o *rerate.Order) { o.Model = "gpt-4o" }, 1},
		"integration":   {func(o *rerate.Order) { o.IntegrationID = "another" }, 1},
		"two at a time": {func(o *rerate.Order) { o.IntegrationID, o.Model = "integration", "gpt-4o" }, 1},
		"another org":   {func(o *rerate.Order) { o.OrgID = "another" }, 0},
	} {
		o := order()
		tt.filter(&o)
		out, err := w.engine.Try(t.Context(), o)
		if err != nil || out.Attempts != tt.want || out.Left != 0 {
			t.Errorf("%s: %d attempts, %d left, %v; want %d", name, out.Attempts, out.Left, err, tt.want)
		}
	}
}

// Nothing is changed before it was approved, and of an organisation there is one at a time.
func TestApproval(t *testing.T) {
	t.Parallel()
	w, before, _ := wrong(t)
	defer w.stop()
	no := errors.New("no")
	if _, err := w.engine.Run(t.Context(), order(), func(rerate.Outcome) error { return no }); !errors.Is(err, no) {
		t.Errorf("refused: %v", err)
	}
	var seen string
	_, err := w.engine.Run(t.Context(), order(), func(plan rerate.Outcome) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := w.engine.Run(ctx, order(), func(rerate.Outcome) error { return nil })
		seen = fmt.Sprint(fault.Has(err, fault.Conflict), cmp.Equal(w.costs(), before), plan.Changed)
		return no
	})
	if want := fmt.Sprint(true, true, calls); seen != want || !errors.Is(err, no) {
		t.Errorf("meanwhile: %s, want %s; %v", seen, want, err)
	}
	if out := w.run(order()); out.Changed != calls {
		t.Errorf("behind both: %+v", out)
	}
}

// What a paid check cost is not a price of a list: a correction of prices leaves it.
func TestFixedPricesAreLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.stop()
	a := recordtest.Chat(1)
	basis := catalog.Basis{Fixed: true}
	a.Usage = llm.Usage{}
	a.Spend = record.Spend{State: "settled", Cost: 1_000_000, Basis: basis.Text()}
	w.append(a)
	w.price("1")
	if out := w.run(order()); out.Changed != 0 || out.Attempts != 0 || out.Left != 0 {
		t.Errorf("got %+v", out)
	}
	if got := w.costs()[a.ID]; got != 1_000_000 {
		t.Errorf("the check costs %d now", got)
	}
}
