package wire

import (
	"math/bits"
	"sync"
)

// minPooledBytes is the smallest room that is lent. A usual chat fits into it, and ten thousand of
// them that wait for their answers weigh 10 MB.
const minPooledBytes = 1 << 10

// pools are the rooms that were given back, by size: minPooledBytes, twice that, and so on, up to
// 512 MiB.
var pools [20]sync.Pool

// poolClass is which of lent holds n bytes.
func poolClass(n int) int { return bits.Len(uint(max(n, minPooledBytes)-1) / minPooledBytes) }

// GetBuffer returns a room of n bytes or up to twice as many, 1 KiB at least, with whatever is left
// in it. It is the caller's until PutBuffer, who need not give it back.
func GetBuffer(n int) *[]byte {
	i := poolClass(n)
	if i >= len(pools) { // nobody keeps such bodies
		b := make([]byte, n)
		return &b
	}
	if b, ok := pools[i].Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, minPooledBytes<<i)
	return &b
}

// PutBuffer ends the use of a room that Lend returned, at its whole length.
func PutBuffer(b *[]byte) {
	if i := poolClass(len(*b)); i < len(pools) {
		pools[i].Put(b)
	}
}
