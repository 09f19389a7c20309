package spend

import (
	"slices"
	"time"

	"sluice/internal/ledger"
	"sluice/internal/quota"
)

// sums are the charges of closed lines that are not stored yet, by counter and
// millisecond: the store has to know which of them lie before a reset.
type sums struct {
	used      totals // of lines that were settled in the bank too
	corrected totals // of lines that no bank knows of
	lines     int
	to        uint64 // position in the journal behind the last of the lines
}

// totals are sums of charges.
type totals struct {
	at     map[quota.Delta]int // of a delta without its units
	deltas []quota.Delta
}

func (s *sums) add(l *ledger.Line) {
	s.lines++
	if l.State == ledger.Corrected {
		s.corrected.add(l)
	} else {
		s.used.add(l)
	}
}

// all is what the store has to be told.
func (s *sums) all() []quota.Delta { return slices.Concat(s.used.deltas, s.corrected.deltas) }

func (s *totals) add(l *ledger.Line) {
	for i := range l.Charges {
		c := &l.Charges[i]
		if c.Units == 0 {
			continue
		}
		key := quota.Delta{CarrierID: c.Carrier, Entry: c.Entry, ValueKey: c.ValueKey, At: l.At.Truncate(time.Millisecond)}
		k, ok := s.at[key]
		if !ok {
			if s.at == nil {
				s.at = map[quota.Delta]int{}
			}
			k = len(s.deltas)
			s.at[key] = k
			s.deltas = append(s.deltas, key)
		}
		s.deltas[k].Units += c.Units
	}
}

// empty forgets what was stored.
func (s *sums) empty() { *s = sums{} }
