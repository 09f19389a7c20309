package ledger

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"sluice/internal/kernel/varint"
)

// Counts is what a counter of a Set counts.
type Counts uint8

// These are the values of Counts.
const (
	Nanos  Counts = iota // nano-dollars
	Tokens               // input and output together
	Calls                // one for each call
)

// Counter names a counter as a Charge does.
type Counter struct {
	Subject, Entry, ValueKey string
	Counts                   Counts
}

// Amounts are the amounts of one call, indexed by what a counter counts: Amounts[Nanos].
type Amounts [Calls + 1]int64

// Set contains the counters that a call is charged on. Calls that meet the same limits share
// one Set, so that an entry stores it as one string. A Set is shared and never changed.
type Set struct {
	counters []Counter
	stored   string
	costs    atomic.Pointer[string] // CostCounters, once it was computed
}

// NewSet returns the Set of some counters. It retains counters.
func NewSet(counters []Counter) *Set {
	return &Set{counters: counters, stored: storedCounters(counters)}
}

// Counters returns the counters of the set. The caller must not change them.
func (s *Set) Counters() []Counter { return s.counters }

// Equal reports whether two sets have the same counters in the same order.
func (s *Set) Equal(t *Set) bool {
	return s == t || s != nil && t != nil && s.stored == t.stored
}

// CostCounters returns CostCounters of the charges on the counters.
func (s *Set) CostCounters() string {
	if text := s.costs.Load(); text != nil {
		return *text
	}
	text := CostCounters(s.charges(nil, &Amounts{}))
	s.costs.Store(&text)
	return text
}

// charges appends a charge for each counter.
func (s *Set) charges(dst []Charge, a *Amounts) []Charge {
	for i := range s.counters {
		c := &s.counters[i]
		dst = append(dst, Charge{Subject: c.Subject, Entry: c.Entry, ValueKey: c.ValueKey, Units: a[c.Counts], Cost: c.Counts == Nanos})
	}
	return dst
}

// The stored form of a Set: a count, then for each counter
//
//	head       byte: what it counts in the lower two bits, then a bit for each of the next
//	           two strings that is an id, and is written as its 16 bytes
//	subject    the id, or a length and the string
//	entry      likewise
//	value key  0, a length and the string; or 1 more than the index of an earlier counter
//	           with the same value key
const (
	countsBits  = 3
	subjectIsID = 1 << 2
	entryID     = 1 << 3
)

func storedCounters(counters []Counter) string {
	b := varint.Append(nil, uint64(len(counters)))
	keys := make(map[string]int)
	for i := range counters {
		c := &counters[i]
		head := len(b)
		b = append(b, byte(c.Counts))
		for _, t := range [...]struct {
			text string
			bit  byte
		}{{c.Subject, subjectIsID}, {c.Entry, entryID}} {
			if id, err := uuid.Parse(t.text); err == nil && id.String() == t.text {
				b[head] |= t.bit
				b = append(b, id[:]...)
			} else {
				b = append(varint.Append(b, uint64(len(t.text))), t.text...)
			}
		}
		if first, ok := keys[c.ValueKey]; ok {
			b = varint.Append(b, uint64(first)+1)
			continue
		}
		keys[c.ValueKey] = i
		b = append(varint.Append(append(b, 0), uint64(len(c.ValueKey))), c.ValueKey...)
	}
	return string(b)
}

// readSet is the inverse of storedCounters. The error wraps ErrMalformed.
func readSet(stored []byte) (*Set, error) {
	d := newDecoder(stored)
	n := d.Uvarint()
	if n > uint64(len(d.Rest))/4 { // a counter has at least four bytes
		return nil, fmt.Errorf("%d counters: %w", n, ErrMalformed)
	}
	list := make([]Counter, n)
	for i := range list {
		c, head := &list[i], d.Byte()
		c.Counts = Counts(head & countsBits)
		if c.Counts > Calls {
			d.Fail("counter")
		}
		c.Subject, c.Entry = d.idOrText(head&subjectIsID != 0), d.idOrText(head&entryID != 0)
		switch same := d.Uvarint(); {
		case same == 0:
			c.ValueKey = string(d.Bytes(d.Uvarint()))
		case same <= uint64(i):
			c.ValueKey = list[same-1].ValueKey
		default:
			d.Fail("value key")
		}
		if d.Err != nil {
			return nil, d.Err
		}
	}
	return &Set{counters: list, stored: string(stored)}, nil
}

// idOrText reads an id or a string.
func (d *decoder) idOrText(id bool) string {
	if !id {
		return string(d.Bytes(d.Uvarint()))
	}
	var u uuid.UUID
	copy(u[:], d.Bytes(uint64(len(u))))
	return u.String()
}

// maxCachedSets is the maximum number of sets in a CounterSetCache.
const maxCachedSets = 4096

// CounterSetCache caches the sets of recent entries, so that entries with equal sets share one
// *Set, which is decoded once. The zero value is empty. It is safe for concurrent use.
type CounterSetCache struct {
	mu    sync.RWMutex // guards known
	known map[string]*Set
}

// find returns the Set with a stored form. A nil cache decodes it each time. The error wraps
// ErrMalformed.
func (s *CounterSetCache) find(stored []byte) (*Set, error) {
	if s == nil {
		return readSet(stored)
	}
	s.mu.RLock()
	set := s.known[string(stored)]
	s.mu.RUnlock()
	if set != nil {
		return set, nil
	}
	set, err := readSet(stored)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.known[set.stored]; was != nil {
		return was, nil
	}
	if s.known == nil || len(s.known) >= maxCachedSets {
		s.known = make(map[string]*Set)
	}
	s.known[set.stored] = set
	return set, nil
}
