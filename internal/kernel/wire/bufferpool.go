package wire

import (
	"math/bits"
	"sync"
)

// minPooledBytes is the smallest size of a pooled buffer. A typical chat request fits into it,
// and ten thousand that wait for a response use 10 MB.
const minPooledBytes = 1 << 10

// pools contain the returned buffers by size: minPooledBytes, twice that, and so on, up to 512
// MiB.
var pools [20]sync.Pool

// poolClass returns the index in pools for n bytes.
func poolClass(n int) int { return bits.Len(uint(max(n, minPooledBytes)-1) / minPooledBytes) }

// GetBuffer returns a buffer of n to 2n bytes, at least 1 KiB, with arbitrary content. The
// caller owns it until PutBuffer, and does not have to return it.
func GetBuffer(n int) *[]byte {
	i := poolClass(n)
	if i >= len(pools) { // such bodies are not pooled
		b := make([]byte, n)
		return &b
	}
	if b, ok := pools[i].Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, minPooledBytes<<i)
	return &b
}

// PutBuffer returns a buffer from GetBuffer to the pool, with its original length.
func PutBuffer(b *[]byte) {
	if i := poolClass(len(*b)); i < len(pools) {
		pools[i].Put(b)
	}
}
