package spend

import (
	"sluice/internal/ledger"
	"sluice/internal/quota"
)

// setSums are the charges of closed lines that have a ledger.Set: one sum for all counters
// of the set, which most calls of a workspace with many policies share.
type setSums struct {
	at       map[*ledger.Set]int // in list
	list     []setSum
	counters int // of all sets
}

type setSum struct {
	set  *ledger.Set
	runs []setRun
}

// setRun is what came in one millisecond.
type setRun struct {
	at    int64
	units ledger.Amounts
}

func (s *setSums) add(set *ledger.Set, at int64, units ledger.Amounts) {
	k, ok := s.at[set]
	if !ok {
		if s.at == nil {
			s.at = map[*ledger.Set]int{}
		}
		k = len(s.list)
		s.at[set] = k
		s.list = append(s.list, setSum{set: set})
		s.counters += len(set.Counters())
	}
	for i := range units {
		units[i] = quota.Counted(units[i])
	}
	sum := &s.list[k]
	if n := len(sum.runs); n > 0 && sum.runs[n-1].at == at {
		for i := range units {
			sum.runs[n-1].units[i] += units[i]
		}
		return
	}
	sum.runs = append(sum.runs, setRun{at, units})
}

// into moves the sums to those of each counter.
func (s *setSums) into(t *totals) {
	for i := range s.list {
		sum := &s.list[i]
		counters := sum.set.Counters()
		for k := range counters {
			c := &counters[k]
			total := t.of(counterName{c.Carrier, c.Entry, c.ValueKey})
			for _, r := range sum.runs {
				if units := r.units[c.Counts]; units != 0 {
					total.add(r.at, units)
				}
			}
		}
	}
	*s = setSums{}
}
