package quota

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	matchSeen     = 256 // cached calls of a workspace
	matchKeyBytes = 512 // maximum bytes of a match key
	matchMin      = 4   // minimum number of policies for caching
)

// Policies are the policies of a workspace. Nil and the zero value contain none. It is shared.
// The lists must not change after the first match.
type Policies struct {
	Usage []*Policy // budgets
	Rates []*Policy

	// Most calls look the same to the policies as earlier calls. Which policies apply, and
	// with which value keys, is therefore computed once and cached.
	once    sync.Once
	readers []func(*Call) (slug, id string) // of all keys that any policy uses; nil for few policies
	models  bool                            // whether the provider of the model is part of the match key
	seen    *[matchSeen]atomic.Pointer[matched]
}

// matched caches the result of matching for calls with the same match key. After the first
// such call it contains only the hash.
type matched struct {
	hash           uint64
	call           string // the match key
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

// match returns the cached result for calls like c, or nil. A result is cached when the same
// match key comes twice in a row in its slot, so that calls that all differ use no memory.
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

// appendMatchKey appends the properties of a call that the policies use. Two calls have the
// same match key only if every policy treats them alike.
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

// prepare collects the properties that the policies use.
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
