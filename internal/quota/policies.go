package quota

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	matchSeen     = 256 // kinds of calls that a workspace has at hand
	matchKeyBytes = 512 // bytes of what policies look at of such a call
	matchMin      = 4   // policies from which on calls are remembered
)

// Policies are those of a workspace. The zero value and nil have none. It is shared; the
// lists are not changed once a call was matched.
type Policies struct {
	Usage []*Policy // budgets
	Rates []*Policy

	// What policies look at of most calls is the same as of calls before: which of them
	// apply, and for which value keys, is found out once.
	once    sync.Once
	readers []func(*Call) (slug, id string) // of all that any policy looks at; nil for few policies
	models  bool                            // the provider of the model is one of that
	seen    *[matchSeen]atomic.Pointer[matched]
}

// matched is what the policies come to for calls that are alike to them. Of one that was
// met once only its hash is known.
type matched struct {
	hash           uint64
	call           string // what the policies look at
	budgets, rates []Hold
	known          bool
}

// Match appends the holds of the policies that apply to a call, those of usage limits to
// budgets and those of rate limits to rates.
func (p *Policies) Match(c *Call, budgets, rates []Hold) (b, r []Hold) {
	if p == nil || len(p.Usage)+len(p.Rates) == 0 {
		return budgets, rates
	}
	if m := p.match(c); m != nil {
		return append(budgets, m.budgets...), append(rates, m.rates...)
	}
	return match(p.Usage, c, budgets), match(p.Rates, c, rates)
}

func match(list []*Policy, c *Call, dst []Hold) []Hold {
	for _, p := range list {
		if h, ok := p.Match(c); ok {
			dst = append(dst, h)
		}
	}
	return dst
}

// match is what is known of calls like c; nil for nothing. What comes twice in a row in
// its place is remembered, so that calls of which each is another one cost no memory.
func (p *Policies) match(c *Call) *matched {
	p.once.Do(p.prepare)
	if p.readers == nil {
		return nil
	}
	var buf [matchKeyBytes]byte
	b := p.appendMatchKey(buf[:0], c)
	if len(b) > matchKeyBytes {
		return nil
	}
	hash := maphash.Bytes(hashSeed, b)
	slot := &p.seen[hash%matchSeen]
	switch m := slot.Load(); {
	case m == nil || m.hash != hash:
		slot.Store(&matched{hash: hash})
	case !m.known:
		m = &matched{hash: hash, call: string(b), budgets: match(p.Usage, c, nil), rates: match(p.Rates, c, nil), known: true}
		slot.Store(m)
		return m
	case m.call == string(b):
		return m
	}
	return nil
}

// appendMatchKey appends what the policies look at of a call, so that two calls have the same only
// when they are alike to all policies.
func (p *Policies) appendMatchKey(b []byte, c *Call) []byte {
	if p.models {
		b = append(binary.AppendUvarint(b, uint64(len(c.Provider))), c.Provider...)
	}
	for _, lookup := range p.readers {
		slug, id := lookup(c)
		b = append(binary.AppendUvarint(b, uint64(len(slug))), slug...)
		if id == slug {
			b = append(b, 0)
			continue
		}
		b = append(binary.AppendUvarint(b, uint64(len(id))+1), id...)
	}
	return b
}

// prepare finds out what policies look at.
func (p *Policies) prepare() {
	if len(p.Usage)+len(p.Rates) < matchMin {
		return
	}
	var keys []Key
	for _, list := range [...][]*Policy{p.Usage, p.Rates} {
		for _, one := range list {
			for i := range one.conditions {
				keys = append(keys, one.conditions[i].key)
			}
			for i := range one.groups {
				keys = append(keys, one.groups[i].key)
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	p.readers, p.seen = make([]func(*Call) (slug, id string), 0, len(keys)), new([matchSeen]atomic.Pointer[matched])
	for _, k := range keys {
		p.models = p.models || k == modelKey
		p.readers = append(p.readers, k.reader())
	}
}
