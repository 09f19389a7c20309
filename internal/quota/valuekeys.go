package quota

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	inlineKeyBytes = 256 // bytes of a value key that is made without allocating
	valueKeySeen   = 64  // value keys that a policy has at hand
)

// valueKey is a value key, with the place of its counter where the policy has it at hand.
type valueKey struct {
	text string
	ref  *counterRef
}

// valueKeys are value keys that a policy met lately, each in the one place that its hash
// gives it: the calls of a few teams need no text of their own. At most valueKeySeen of
// inlineKeyBytes bytes each. The zero value is empty. Safe for concurrent use.
type valueKeys [valueKeySeen]atomic.Pointer[valueKey]

var hashSeed = maphash.MakeSeed()

// find is b as a value key, which outlives b.
func (v *valueKeys) find(b []byte) valueKey {
	slot := &v[maphash.Bytes(hashSeed, b)%valueKeySeen]
	if s := slot.Load(); s != nil && s.text == string(b) {
		return *s
	}
	s := &valueKey{string(b), newCounterRef()}
	slot.Store(s)
	return *s
}
