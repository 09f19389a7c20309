package quota

import "sync/atomic"

// place remembers the counter of a limit, so that a bank need not look for it by its three
// names. Holds that are copied from one plan share it. A counter that was forgotten, or is
// one of another bank, is looked for anew. Safe for concurrent use.
type place struct {
	number uint64 // no other place has it
	at     atomic.Pointer[counter]
}

var places atomic.Uint64

func newPlace() *place { return &place{number: places.Add(1)} }

// Place tells the counters of limits apart without comparing their names: no two counters
// have the same number, though one may have several. 0 of a hold that no plan or policy made.
func (h *Hold) Place() uint64 {
	if h.place == nil {
		return 0
	}
	return h.place.number
}

// of finds the counter of a hold or makes it, as find does.
func (b *Bank) of(h *Hold, at int64, sweeps bool) *counter {
	if h.place == nil {
		return b.find(h.Counter, h.Org, h.Unit, at, sweeps)
	}
	if c := h.place.at.Load(); c != nil && c.bank == b && !c.gone.Load() {
		return c
	}
	c := b.find(h.Counter, h.Org, h.Unit, at, sweeps)
	h.place.at.Store(c)
	return c
}
