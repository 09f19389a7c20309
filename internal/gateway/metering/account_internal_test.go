package metering

import (
	"reflect"
	"testing"

	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

func TestAccount_ResetLeavesNothingOfTheRequest(t *testing.T) {
	t.Parallel()
	owner := &quota.Owner{Name: "secret"}
	a := &Account{maxNano: 1, open: true, sent: true, response: 7, entry: ledger.Entry{ID: "id"}}
	a.mem.holds = append(make([]quota.Hold, 0, 4), quota.Hold{Owner: owner})
	a.mem.charges = append(make([]ledger.Charge, 0, 4), ledger.Charge{Subject: "secret"})[:0]
	a.holds = a.mem.holds
	a.Reset()

	for _, h := range a.mem.holds[:cap(a.mem.holds)] {
		if h.Owner != nil {
			t.Errorf("a hold is left: %+v", h)
		}
	}
	for _, c := range a.mem.charges[:cap(a.mem.charges)] {
		if c != (ledger.Charge{}) {
			t.Errorf("a charge is left: %+v", c)
		}
	}
	a.mem = buffers{}
	if !reflect.ValueOf(*a).IsZero() {
		t.Errorf("the account is left: %+v", a)
	}
}

func TestCaller_ResetLeavesNothingOfTheRequest(t *testing.T) {
	t.Parallel()
	x := &Caller{metered: true, key: quota.NoPlan(), workspace: quota.NoPlan(), stage: counted}
	x.limits = append(make([]quota.Hold, 0, 4), quota.Hold{Owner: &quota.Owner{Name: "secret"}})
	x.held = x.limits
	x.Reset()

	if x.limits[:1][0].Owner != nil {
		t.Errorf("a hold is left: %+v", x.limits[:1])
	}
	x.limits, x.both = nil, nil
	if !reflect.ValueOf(*x).IsZero() {
		t.Errorf("the caller is left: %+v", x)
	}
}
