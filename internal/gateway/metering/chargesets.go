package metering

import (
	"sync/atomic"

	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

const (
	chargesSeen = 256 // number of cached lists of budgets
	chargesMin  = 8   // minimum number of budgets for which an entry uses a set instead of charges
)

// chargeCache caches the ledger's sets for recurring lists of budgets, so that ledger entries
// need not name each budget. The hash of a list determines its slot. The zero value is empty.
// Safe for concurrent use.
type chargeCache [chargesSeen]atomic.Pointer[chargeSet]

// chargeSet is a list of budgets by their counter keys. After the first use of a list only its
// hash is stored, because most lists are used once.
type chargeSet struct {
	hash     uint64
	counters []quota.CounterKey
	set      *ledger.Set
}

// lookup returns the set of a list of budgets, or nil if the entry must name the budgets.
func (b *chargeCache) lookup(budgets []quota.Hold) *ledger.Set {
	if len(budgets) < chargesMin {
		return nil
	}
	hash := uint64(len(budgets))
	for i := range budgets {
		p := budgets[i].CounterKey()
		if p == (quota.CounterKey{}) {
			return nil
		}
		hash = (hash ^ p.Hash()) * 0x9e3779b97f4a7c15
		hash ^= hash >> 29
	}
	slot := &b[hash%chargesSeen]
	s := slot.Load()
	switch {
	case s == nil || s.hash != hash:
		slot.Store(&chargeSet{hash: hash})
		return nil
	case s.set == nil:
		s = newChargeSet(hash, budgets)
		slot.Store(s)
	case !s.is(budgets):
		return nil
	}
	return s.set
}

func (s *chargeSet) is(budgets []quota.Hold) bool {
	if len(s.counters) != len(budgets) {
		return false
	}
	for i := range budgets {
		if s.counters[i] != budgets[i].CounterKey() {
			return false
		}
	}
	return true
}

func newChargeSet(hash uint64, budgets []quota.Hold) *chargeSet {
	s := &chargeSet{hash: hash}
	var counters []ledger.Counter
	for i := range budgets {
		h := &budgets[i]
		s.counters = append(s.counters, h.CounterKey())
		counters = append(counters, ledger.Counter{Subject: h.Counter.Subject, Entry: h.Counter.Entry, ValueKey: h.Counter.ValueKey, Counts: countsOf(h.Measure)})
	}
	s.set = ledger.NewSet(counters)
	return s
}

func countsOf(m quota.Measure) ledger.Counts {
	switch m {
	case quota.Calls:
		return ledger.Calls
	case quota.TokenCount:
		return ledger.Tokens
	case quota.Cost:
	}
	return ledger.Nanos
}

// setCharges sets the charges of the ledger entry: the reserved amounts if o is nil, else the used
// amounts in o.
func (a *Account) setCharges(o *Charge) {
	if a.entry.Set == nil {
		a.entry.Charges = a.listCharges(o)
		return
	}
	a.entry.Amounts = ledger.Amounts{ledger.Nanos: a.maxNano, ledger.Tokens: a.max.Input + a.max.Output, ledger.Calls: 1}
	if o != nil {
		a.entry.Amounts = ledger.Amounts{ledger.Nanos: o.amount(quota.Cost), ledger.Tokens: o.amount(quota.TokenCount), ledger.Calls: o.amount(quota.Calls)}
	}
}
