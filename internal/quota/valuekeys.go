package quota

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	valueKeyRoom = 256 // bytes of a value key that is made without allocating
	valueKeySeen = 64  // value keys that a policy has at hand
)

// valueKeys are value keys that a policy met lately, each in the one place that its hash
// gives it: the calls of a few teams need no text of their own. At most valueKeySeen of
// valueKeyRoom bytes each. The zero value is empty. Safe for concurrent use.
type valueKeys [valueKeySeen]atomic.Pointer[string]

var valueKeySeed = maphash.MakeSeed()

// text is b as a text, which outlives b.
func (v *valueKeys) text(b []byte) string {
	at := &v[maphash.Bytes(valueKeySeed, b)%valueKeySeen]
	if s := at.Load(); s != nil && *s == string(b) {
		return *s
	}
	s := string(b)
	at.Store(&s)
	return s
}
