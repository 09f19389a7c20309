package dataplane

import (
	"math/bits"
	"sync"
)

// captureStart is the room that a capture begins with: less would have to grow at
// once for most answers, more would weigh on thousands of open streams.
const captureStart = 2 << 10

// capture keeps the beginning of what passes by. Its room is lent: free gives it back,
// and nothing of it may be used any more then. Zero but for max is ready.
type capture struct {
	kept []byte
	size int64 // of all that passed by
	max  int
	room *[]byte
}

// take notes a piece.
func (c *capture) take(p []byte) {
	c.size += int64(len(p))
	if left := c.max - len(c.kept); left > 0 {
		p = p[:min(left, len(p))]
		if need := len(c.kept) + len(p); need > cap(c.kept) {
			c.grow(need)
		}
		c.kept = append(c.kept, p...)
	}
}

// grow moves to a room for at least n bytes.
func (c *capture) grow(n int) {
	next := lend(n)
	kept := append((*next)[:0], c.kept...)
	c.free()
	c.room, c.kept = next, kept
}

// free gives the room back.
func (c *capture) free() {
	if c.room != nil {
		giveBack(c.room)
	}
	c.room, c.kept = nil, nil
}

// rooms are lent by size: captureStart, twice that, and so on. A capture that grew by
// itself would leave as much behind for the collector as it holds.
var rooms [20]sync.Pool

// sizeClass is which of the rooms holds n bytes.
func sizeClass(n int) int { return bits.Len(uint(max(n, captureStart)-1) / captureStart) }

// lend returns a room for at least n bytes.
func lend(n int) *[]byte {
	i := sizeClass(n)
	if i >= len(rooms) { // nobody keeps such bodies
		b := make([]byte, n)
		return &b
	}
	if b, ok := rooms[i].Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, captureStart<<i)
	return &b
}

func giveBack(b *[]byte) {
	if i := sizeClass(len(*b)); i < len(rooms) {
		rooms[i].Put(b)
	}
}
