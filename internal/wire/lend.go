package wire

import (
	"math/bits"
	"sync"
)

// leastLent is the smallest room that is lent. A usual chat fits into it, and ten thousand of
// them that wait for their answers weigh 10 MB.
const leastLent = 1 << 10

// lent are the rooms that were given back, by size: leastLent, twice that, and so on, up to
// 512 MiB.
var lent [20]sync.Pool

// lentClass is which of lent holds n bytes.
func lentClass(n int) int { return bits.Len(uint(max(n, leastLent)-1) / leastLent) }

// GetBuffer returns a room of n bytes or up to twice as many, 1 KiB at least, with whatever is left
// in it. It is the caller's until PutBuffer, who need not give it back.
func GetBuffer(n int) *[]byte {
	i := lentClass(n)
	if i >= len(lent) { // nobody keeps such bodies
		b := make([]byte, n)
		return &b
	}
	if b, ok := lent[i].Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, leastLent<<i)
	return &b
}

// PutBuffer ends the use of a room that Lend returned, at its whole length.
func PutBuffer(b *[]byte) {
	if i := lentClass(len(*b)); i < len(lent) {
		lent[i].Put(b)
	}
}
