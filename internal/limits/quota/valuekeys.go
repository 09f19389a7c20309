package quota

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	inlineKeyBytes = 256 // bytes of a value key that is built without allocating
	valueKeySeen   = 64  // value keys that a policy caches
)

// valueKey is a value key, with the counterRef of its counter if the policy caches it.
type valueKey struct {
	text string
	ref  *counterRef
}

// valueKeys caches recent value keys of a policy, each in the slot of its hash, so that the
// calls of a few teams need no new strings. It has at most valueKeySeen keys of at most
// inlineKeyBytes bytes. The zero value is empty. It is safe for concurrent use.
type valueKeys [valueKeySeen]atomic.Pointer[valueKey]

var hashSeed = maphash.MakeSeed()

// find returns b as a value key, which does not refer to b.
func (v *valueKeys) find(b []byte) valueKey {
	slot := &v[maphash.Bytes(hashSeed, b)%valueKeySeen]
	if s := slot.Load(); s != nil && s.text == string(b) {
		return *s
	}
	s := &valueKey{string(b), newCounterRef()}
	slot.Store(s)
	return *s
}
