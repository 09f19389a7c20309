package dataplane

import "sluice/internal/wire"

const (
	// slowBytes is the size of a read from an upstream that sends little at a time. Thousands of
	// streams wait in such reads, each with its own buffer.
	slowBytes = 2 << 10
	// fastBytes is the size of a read from an upstream that sends more, so that an upload or
	// download needs few system calls.
	fastBytes = 64 << 10
)

// readBuffer is the buffer for reading a body. It is small at first and while the body arrives in
// small chunks. It becomes large once a read fills the small buffer. The zero value is ready for
// use; free returns the buffers to the pool.
type readBuffer struct {
	slow, fast *[]byte
	small      int // consecutive reads that would have fit the small buffer
}

// fastPatience is the number of consecutive small reads after which the large buffer is freed.
const fastPatience = 16

// newReadBuffer returns a small buffer for the beginning of a body.
func newReadBuffer() []byte { return *wire.GetBuffer(slowBytes) }

// wrapReadBuffer reuses the buffer of a body's beginning, once that is consumed, for the rest.
func wrapReadBuffer(b []byte) readBuffer {
	if cap(b) != slowBytes {
		return readBuffer{}
	}
	b = b[:slowBytes]
	return readBuffer{slow: &b}
}

// bytes returns the buffer for the next read.
func (r *readBuffer) bytes() []byte {
	if r.fast != nil {
		return *r.fast
	}
	if r.slow == nil {
		r.slow = wire.GetBuffer(slowBytes)
	}
	return *r.slow
}

// took records the size of the last read. The bytes must have been consumed before.
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

// free returns the buffers to the pool.
func (r *readBuffer) free() {
	if r.slow != nil {
		wire.PutBuffer(r.slow)
	}
	if r.fast != nil {
		wire.PutBuffer(r.fast)
	}
	*r = readBuffer{}
}
