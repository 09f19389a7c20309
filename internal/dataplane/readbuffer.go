package dataplane

import "sluice/internal/wire"

const (
	// slowBytes is the size of a read from an upstream that says little at a time:
	// thousands of streams wait in such reads, each with its room.
	slowBytes = 2 << 10
	// fastBytes is the size of a read from one that has more to say: large enough
	// that an upload or download costs few system calls.
	fastBytes = 64 << 10
)

// readBuffer is where a body is read into: small at first and while it comes in small
// pieces, large once it fills the small one. Zero is ready; free gives it back.
type readBuffer struct {
	slow, fast *[]byte
	small      int // reads in a row that would have fitted the small one
}

// fastPatience is how many small reads in a row end the use of the large room.
const fastPatience = 16

// newReadBuffer is a small room for the beginning of a body.
func newReadBuffer() []byte { return *wire.GetBuffer(slowBytes) }

// wrapReadBuffer makes the room of a beginning, which is used by now, that of the rest.
func wrapReadBuffer(b []byte) readBuffer {
	if cap(b) != slowBytes {
		return readBuffer{}
	}
	b = b[:slowBytes]
	return readBuffer{slow: &b}
}

// bytes is where the next read shall go.
func (r *readBuffer) bytes() []byte {
	if r.fast != nil {
		return *r.fast
	}
	if r.slow == nil {
		r.slow = wire.GetBuffer(slowBytes)
	}
	return *r.slow
}

// took notes how much the last read brought. The bytes must have been used by now.
func (r *readBuffer) took(n int) {
	switch {
	case r.fast == nil && n == slowBytes:
		r.free()
		r.fast = wire.GetBuffer(fastBytes)
	case r.fast == nil:
	case n > slowBytes:
		r.small = 0
	default:
		if r.small++; r.small == fastPatience {
			r.free()
		}
	}
}

// free gives the room back.
func (r *readBuffer) free() {
	if r.slow != nil {
		wire.PutBuffer(r.slow)
	}
	if r.fast != nil {
		wire.PutBuffer(r.fast)
	}
	*r = readBuffer{}
}
