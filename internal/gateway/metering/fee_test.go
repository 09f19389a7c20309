package metering_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// payer is the payer of the rig's call. Its key has a budget of money, one of tokens and a rate; its
// integration has a budget of money.
func (r *rig) payer() *metering.Payer {
	r.key.Budgets = append(r.key.Budgets, quota.Hold{Counter: quota.CounterID{Subject: "key", Entry: "tokens"}, Measure: quota.TokenCount, Limit: 1})
	r.key.Rates = []quota.Hold{{Counter: quota.CounterID{Subject: "key", Entry: "rate"}, Measure: quota.Calls, Unit: quota.PerMinute, Limit: 1}}
	r.subject.Integration = &quota.Plan{Budgets: []quota.Hold{{Counter: quota.CounterID{Subject: "integration"}, Measure: quota.Cost, Limit: 1}}}
	return metering.NewPayer(r.subject, r.key, quota.NoPlan())
}

func TestFee_CountsOnTheCostBudgetsOfTheCaller(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	fee, err := r.meter.OpenFee(t.Context(), r.payer(), metering.Price{Name: "a.check", Nano: 7, Units: 3})
	if err != nil {
		t.Fatal(err)
	}
	if held := r.limits.taken[0]; len(held) != 1 || held[0].Counter.Entry != "budget" || held[0].Amount != 21 || held[0].Org != "org" {
		t.Errorf("held %+v", held)
	}
	open := r.entries.list[0]
	if open.State != ledger.Reserved || open.Amount != 21 || open.KeyID != "key" || open.RequestID != "request" || open.Model != "gpt-4o-mini" || len(open.Charges) != 1 || open.Charges[0].Units != 21 || !open.Charges[0].Cost {
		t.Errorf("reserved %+v", open)
	}
	var rec record.Attempt
	r.meter.CloseFee(fee, 2, &rec)
	r.meter.SettleFee(fee)
	var closing ledger.Entry
	if err := closing.Decode(rec.Closing); err != nil {
		t.Fatal(err)
	}
	if closing.ID != open.ID || rec.ID != open.ID || closing.State != ledger.Settled || closing.Amount != 14 || closing.Charges[0].Units != 14 {
		t.Errorf("closed %+v", closing)
	}
	basis, err := catalog.ReadBasis(rec.Spend.Basis)
	if err != nil || !basis.Fixed || rec.Spend.Cost != 14 || rec.Spend.MaxCost != 21 || rec.Spend.State != "settled" || !strings.Contains(rec.Spend.Terms, `"key":"a.check","units":2`) {
		t.Errorf("the record has %+v", rec.Spend)
	}
	if len(r.entries.list) != 1 || len(r.limits.settled) != 1 {
		t.Errorf("%d entries beside the record, settled %d times", len(r.entries.list), len(r.limits.settled))
	}
}

func TestFee_ThatIsDroppedIsReleased(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	fee, err := r.meter.OpenFee(t.Context(), r.payer(), metering.Price{Nano: 7, Units: 1})
	if err != nil {
		t.Fatal(err)
	}
	r.meter.DropFee(fee)
	if last := r.entries.list[len(r.entries.list)-1]; len(r.entries.list) != 2 || last.State != ledger.Released || last.ID != r.entries.list[0].ID || last.Amount != 0 || last.Charges[0].Units != 0 || len(r.limits.settled) != 1 {
		t.Errorf("entries %+v, settled %d times", r.entries.list, len(r.limits.settled))
	}
}

func TestFee_ThatABudgetRejectsLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limits.refuse = 1
	_, err := r.meter.OpenFee(t.Context(), r.payer(), metering.Price{Nano: 7, Units: 1})
	if f := fault.From(err); err == nil || f.Code != fault.BudgetExhausted || len(r.entries.list)+len(r.limits.settled) != 0 {
		t.Errorf("%v, entries %+v", err, r.entries.list)
	}
}

// The price of a fee never overflows, and a budget counts at most what one call may count.
func TestFee_IsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		price := metering.Price{Nano: rapid.Int64Range(0, math.MaxInt64).Draw(rt, "nano"), Units: rapid.Int64Range(1, 2000).Draw(rt, "units")}
		fee, err := r.meter.OpenFee(context.Background(), r.payer(), price)
		if err != nil {
			rt.Fatal(err)
		}
		var rec record.Attempt
		used := rapid.Int64Range(0, price.Units).Draw(rt, "used")
		r.meter.CloseFee(fee, used, &rec)
		if s := rec.Spend; s.Cost < 0 || s.Cost > s.MaxCost || s.MaxCost > quota.MaxCallUnits || price.Nano <= quota.MaxCallUnits/2000 && s.Cost != used*price.Nano {
			rt.Errorf("%d of %+v cost %+v", used, price, s)
		}
	})
}

// A probe looks at the limits of the caller that still wait for those of the first attempt, and at the
// fee, and leaves nothing held.
func TestProbe_LooksAtAllLimitsAndTheFee(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limits.defers = true
	ctx := t.Context()
	if err := r.meter.Admit(ctx, r.caller, time.Now(), "org", r.key, quota.NoPlan(), true); err != nil {
		t.Fatal(err)
	}
	if len(r.limits.taken) != 0 {
		t.Fatalf("taken %+v", r.limits.taken)
	}
	if err := r.meter.Probe(ctx, new(metering.Account), r.caller, r.subject, r.call, 1000); err != nil {
		t.Fatal(err)
	}
	a := r.reserveAgain(t)
	if len(r.limits.taken) != 3 || len(r.limits.taken[0]) != 1 || r.limits.taken[0][0].Amount != 0 || r.limits.taken[1][0].Amount != a.MaxCostNano()+1000 {
		t.Errorf("taken %+v", r.limits.taken)
	}
	if settled := r.limits.settled; len(settled) != 1 || !slices.Equal(r.limits.taken[1], settled[0]) || len(r.entries.list) != 1 {
		t.Errorf("settled %+v, entries %+v", settled, r.entries.list)
	}
}

// reserveAgain reserves the call for a caller who was admitted.
func (r *rig) reserveAgain(t *testing.T) *metering.Account {
	t.Helper()
	a := new(metering.Account)
	if err := r.meter.Reserve(t.Context(), a, r.caller, r.subject, r.call, "attempt"); err != nil {
		t.Fatal(err)
	}
	return a
}
