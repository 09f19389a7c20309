package quota

import (
	"hash/maphash"
	"sync/atomic"
)

// counterRef caches the counter of a limit, so that a limiter need not find it by its three
// names. Holds that are copied from one plan share it. A counter that was evicted, or that is
// of another limiter, is looked up again. It is safe for concurrent use.
type counterRef struct{ counter atomic.Pointer[counter] }

func newCounterRef() *counterRef { return new(counterRef) }

// CounterKey identifies the counter of a limit without comparing its names. No two counters
// have the same key, but one counter may have several. Compare keys with ==. The zero
// CounterKey is that of holds that no plan or policy made.
type CounterKey struct{ ref *counterRef }

// CounterKey returns the key of the hold's counter.
func (h *Hold) CounterKey() CounterKey { return CounterKey{h.ref} }

// Hash returns the same value for equal keys. The value differs between runs of the program.
func (p CounterKey) Hash() uint64 { return maphash.Comparable(hashSeed, p.ref) }

// resolve finds the counter of a hold or creates it, as find does.
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
