package wire

const (
	// SmallReadBytes is the size of a read from an upstream that sends little at a time. Thousands
	// of streams wait in such reads, each with its own buffer.
	SmallReadBytes = 2 << 10
	// LargeReadBytes is the size of a read from an upstream that sends more, so that an upload or
	// download needs few system calls.
	LargeReadBytes = 64 << 10
)

// ReadBuffer is the buffer for reading a body. It is small at first and while the body arrives in
// small chunks. It becomes large once a read fills the small buffer. The zero value is ready for
// use; Free returns the buffers to the pool.
type ReadBuffer struct {
	small, large *[]byte
	smallReads   int // consecutive reads that would have fit the small buffer
}

// largePatience is the number of consecutive small reads after which the large buffer is freed.
const largePatience = 16

// GetSmallBuffer returns a small buffer for the beginning of a body.
func GetSmallBuffer() []byte { return *GetBuffer(SmallReadBytes) }

// ReadBufferFrom returns a ReadBuffer that reuses b, the buffer of a body's beginning, once
// that is consumed.
func ReadBufferFrom(b []byte) ReadBuffer {
	if cap(b) != SmallReadBytes {
		return ReadBuffer{}
	}
	b = b[:SmallReadBytes]
	return ReadBuffer{small: &b}
}

// Bytes returns the buffer for the next read.
func (r *ReadBuffer) Bytes() []byte {
	if r.large != nil {
		return *r.large
	}
	if r.small == nil {
		r.small = GetBuffer(SmallReadBytes)
	}
	return *r.small
}

// Took records the size of the last read. The bytes must have been consumed before.
func (r *ReadBuffer) Took(n int) {
	switch {
	case r.large == nil && n == SmallReadBytes:
		r.Free()
		r.large = GetBuffer(LargeReadBytes)
	case r.large == nil:
	case n > SmallReadBytes:
		r.smallReads = 0
	default:
		if r.smallReads++; r.smallReads == largePatience {
			r.Free()
		}
	}
}

// Free returns the buffers to the pool.
func (r *ReadBuffer) Free() {
	if r.small != nil {
		PutBuffer(r.small)
	}
	if r.large != nil {
		PutBuffer(r.large)
	}
	*r = ReadBuffer{}
}
