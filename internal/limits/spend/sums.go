package spend

import (
	"cmp"
	"slices"
	"time"

	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// pendingUsage contains the charges of closed entries that are not stored yet, by counter and
// millisecond. The store needs the times to find the usage before a reset.
type pendingUsage struct {
	used    totals // that the limiter has too
	sets    setTotals
	raised  totals // by corrections that no limiter has
	lowered totals // by corrections; these are not reported to a limiter
	lines   int
	to      uint64 // position in the journal after the last of the entries
}

// add adds the charges of an entry. known reports that the limiter has its positive charges.
func (s *pendingUsage) add(l *ledger.Entry, known bool) {
	s.lines++
	usedAtMS := l.RecordedAt.UnixMilli()
	if l.Set != nil && known {
		s.sets.add(l.Set, usedAtMS, l.Amounts)
		return
	}
	charges := l.AllCharges()
	for i := range charges {
		c := &charges[i]
		switch units := quota.Counted(c.Units); {
		case units < 0:
			s.lowered.get(nameOf(c)).add(usedAtMS, units)
		case units > 0 && known:
			s.used.get(nameOf(c)).add(usedAtMS, units)
		case units > 0:
			s.raised.get(nameOf(c)).add(usedAtMS, units)
		}
	}
}

// maxMeters is the approximate maximum number of meters in one transaction, so that others
// need not wait long for the store.
const maxMeters = 50_000

// full reports whether the usage must be stored before more is added.
func (s *pendingUsage) full(lines int) bool {
	return s.lines >= lines || len(s.used.list)+s.sets.counters >= maxMeters
}

// usedTotals returns what was used, by counter.
func (s *pendingUsage) usedTotals() *totals {
	s.sets.into(&s.used)
	return &s.used
}

// markReported records that the raised usage was reported to the limiter.
func (s *pendingUsage) markReported() {
	for name, i := range s.raised.index {
		used := s.used.get(name)
		for _, r := range s.raised.list[i].runs {
			used.add(r.UsedAtMS, r.Units)
		}
	}
	s.raised = totals{}
}

// corrected returns the usage that no limiter has.
func (s *pendingUsage) corrected() []quota.Delta {
	return slices.Concat(s.raised.byTime(), s.lowered.byTime())
}

// all returns what is to be stored. It is valid until empty.
func (s *pendingUsage) all() []quota.Delta {
	return slices.Concat(s.usedTotals().byTime(), s.corrected())
}

// empty drops the usage once it is stored.
func (s *pendingUsage) empty() { *s = pendingUsage{} }

// totals are charges added up by counter.
type totals struct {
	index map[counterName]int // in list
	list  []total
}

// counterName is the name of a counter in a charge.
type counterName struct{ subjectID, entry, valueKey string }

func nameOf(c *ledger.Charge) counterName { return counterName{c.Subject, c.Entry, c.ValueKey} }

// total is the usage of one counter.
type total struct {
	meter quota.Delta // names the counter, without a time and units
	runs  []quota.Run // usage in each millisecond: entries are closed nearly in the order of time
}

// get returns the total of a counter.
func (s *totals) get(name counterName) *total {
	k, ok := s.index[name]
	if !ok {
		if s.index == nil {
			s.index = map[counterName]int{}
		}
		meter := quota.Delta{SubjectID: name.subjectID, BudgetKey: name.entry, ValueKey: name.valueKey}
		if meter.BudgetKey == "" {
			meter.BudgetKey = quota.EntryOf(name.valueKey)
		}
		k = len(s.list)
		s.index[name] = k
		s.list = append(s.list, total{meter: meter})
	}
	return &s.list[k]
}

func (t *total) add(usedAtMS, units int64) {
	if n := len(t.runs); n > 0 && t.runs[n-1].UsedAtMS == usedAtMS {
		t.runs[n-1].Units += units
		return
	}
	t.runs = append(t.runs, quota.Run{UsedAtMS: usedAtMS, Units: units})
}

// byCounter returns a delta for each counter, without a time.
func (s *totals) byCounter() []quota.Delta {
	out := make([]quota.Delta, len(s.list))
	for i := range s.list {
		out[i] = s.list[i].meter
		for _, r := range s.list[i].runs {
			out[i].Units += r.Units
		}
	}
	return out
}

// byTime returns a delta for each counter with its times, in the order of the meters in the
// store.
func (s *totals) byTime() []quota.Delta {
	order := make([]*total, len(s.list))
	for i := range s.list {
		order[i] = &s.list[i]
	}
	slices.SortFunc(order, func(a, b *total) int {
		return cmp.Or(cmp.Compare(a.meter.SubjectID, b.meter.SubjectID), cmp.Compare(a.meter.BudgetKey, b.meter.BudgetKey))
	})
	out := make([]quota.Delta, len(order))
	for i, t := range order {
		d := &out[i]
		*d = t.meter
		var last int64
		for _, r := range t.runs {
			d.Units, last = d.Units+r.Units, max(last, r.UsedAtMS)
		}
		if d.UsedAt = time.UnixMilli(last).UTC(); len(t.runs) > 1 {
			d.Runs = t.runs
		}
	}
	return out
}
