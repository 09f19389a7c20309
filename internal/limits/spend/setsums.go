package spend

import (
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// setTotals contains the charges of closed entries that have a ledger.Set. It has one total
// for all counters of a set, which most calls of a workspace with many policies share.
type setTotals struct {
	index    map[*ledger.Set]int // in list
	list     []setTotal
	counters int // of all sets
}

type setTotal struct {
	set  *ledger.Set
	runs []setRun
}

// setRun is the usage in one millisecond.
type setRun struct {
	usedAtMS int64
	units    ledger.Amounts
}

func (s *setTotals) add(set *ledger.Set, usedAtMS int64, units ledger.Amounts) {
	k, ok := s.index[set]
	if !ok {
		if s.index == nil {
			s.index = map[*ledger.Set]int{}
		}
		k = len(s.list)
		s.index[set] = k
		s.list = append(s.list, setTotal{set: set})
		s.counters += len(set.Counters())
	}
	for i := range units {
		units[i] = quota.Counted(units[i])
	}
	entry := &s.list[k]
	if n := len(entry.runs); n > 0 && entry.runs[n-1].usedAtMS == usedAtMS {
		for i := range units {
			entry.runs[n-1].units[i] += units[i]
		}
		return
	}
	entry.runs = append(entry.runs, setRun{usedAtMS, units})
}

// into adds the totals to those of each counter and resets s.
func (s *setTotals) into(t *totals) {
	for i := range s.list {
		entry := &s.list[i]
		counters := entry.set.Counters()
		for k := range counters {
			c := &counters[k]
			total := t.get(counterName{c.Subject, c.Entry, c.ValueKey})
			for _, r := range entry.runs {
				if units := r.units[c.Counts]; units != 0 {
					total.add(r.usedAtMS, units)
				}
			}
		}
	}
	*s = setTotals{}
}
