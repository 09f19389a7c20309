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
	used    totals // that the bank has, too
	raised  totals // by corrections that no bank knows of
	lowered totals // likewise: no bank is told of these
	lines   int
	to      uint64 // position in the journal behind the last of the lines
}

// totals are sums of charges.
type totals struct {
	at     map[quota.Delta]int // of a delta without its units
	deltas []quota.Delta
}

// add takes in the charges of a line; known says that the bank has those that are more
// than nothing.
func (s *sums) add(l *ledger.Line, known bool) {
	s.lines++
	for i := range l.Charges {
		c := &l.Charges[i]
		d := quota.Delta{CarrierID: c.Carrier, Entry: c.Entry, ValueKey: c.ValueKey, At: l.At.Truncate(time.Millisecond), Units: c.Units}
		switch {
		case c.Units < 0:
			s.lowered.put(d)
		case c.Units > 0 && known:
			s.used.put(d)
		case c.Units > 0:
			s.raised.put(d)
		}
	}
}

// tell notes that the bank was told of what was raised.
func (s *sums) tell() {
	for _, d := range s.raised.deltas {
		s.used.put(d)
	}
	s.raised = totals{}
}

// corrected is what no bank knows of.
func (s *sums) corrected() []quota.Delta { return slices.Concat(s.raised.deltas, s.lowered.deltas) }

// all is what the store has to be told.
func (s *sums) all() []quota.Delta { return slices.Concat(s.used.deltas, s.corrected()) }

// put adds a delta to those of its counter and time.
func (s *totals) put(d quota.Delta) {
	key := d
	key.Units = 0
	k, ok := s.at[key]
	if !ok {
		if s.at == nil {
			s.at = map[quota.Delta]int{}
		}
		k = len(s.deltas)
		s.at[key] = k
		s.deltas = append(s.deltas, key)
	}
	s.deltas[k].Units += d.Units
}

// empty forgets what was stored.
func (s *sums) empty() { *s = sums{} }
