package quota

import (
	"hash/maphash"
	"sync/atomic"
)

// counterRef remembers the counter of a limit, so that a bank need not look for it by its three
// names. Holds that are copied from one plan share it. A counter that was forgotten, or is
// one of another bank, is looked for anew. Safe for concurrent use.
type counterRef struct{ counter atomic.Pointer[counter] }

func newCounterRef() *counterRef { return new(counterRef) }

// CounterKey tells the counters of limits apart without comparing their names: no two counters
// have the same one, though one may have several. Places are compared with ==; the zero
// Place is that of holds that no plan or policy made.
type CounterKey struct{ ref *counterRef }

// CounterKey is where the counter of the hold is remembered.
func (h *Hold) CounterKey() CounterKey { return CounterKey{h.ref} }

// Hash is the same for equal places, and differs from one start of the program to the next.
func (p CounterKey) Hash() uint64 { return maphash.Comparable(hashSeed, p.ref) }

// resolve finds the counter of a hold or makes it, as find does.
func (b *Limiter) resolve(h *Hold, nowNano int64, sweeps bool) *counter {
	if h.ref == nil {
		return b.find(h.Counter, h.Org, h.Unit, nowNano, sweeps)
	}
	if c := h.ref.counter.Load(); c != nil && c.limiter == b && !c.gone.Load() {
		return c
	}
	c := b.find(h.Counter, h.Org, h.Unit, nowNano, sweeps)
	h.ref.counter.Store(c)
	return c
}
