package server

import (
	"io"
	"sync"

	"sluice/internal/http1/syntax"
)

// bufferBytes is the size of a buffer: that of a usual request or response with its header. A
// connection has one for input and one for output only while they contain something, so that idle
// connections and waiting streams do not use buffers.
const bufferBytes = 8 << 10

// buffer contains bytes that were received or will be sent. It belongs to one goroutine.
type buffer struct {
	b          []byte // the complete memory
	start, end int    // range of the bytes in use
	lines      syntax.Lines
}

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, bufferBytes)} }}

func getBuffer() *buffer {
	buf := buffers.Get().(*buffer)
	buf.start, buf.end = 0, 0
	return buf
}

// release returns the buffer to the pool, unless it has grown. It must not be used afterwards.
func (buf *buffer) release() {
	if len(buf.b) <= bufferBytes {
		buffers.Put(buf)
	}
}

// unread returns the bytes in the buffer.
func (buf *buffer) unread() []byte { return buf.b[buf.start:buf.end] }

// fill reads once. A full buffer grows before, by at most limit bytes.
func (buf *buffer) fill(r io.Reader, limit int) error {
	if buf.start > 0 {
		buf.end = copy(buf.b, buf.unread())
		buf.start = 0
	}
	if buf.end == len(buf.b) {
		buf.b = append(buf.b, make([]byte, min(len(buf.b), limit))...)
	}
	n, err := r.Read(buf.b[buf.end:])
	buf.end += n
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// store puts bytes into an empty buffer.
func (buf *buffer) store(p []byte) {
	if len(p) > len(buf.b) {
		buf.b = make([]byte, len(p))
	}
	buf.start, buf.end = 0, copy(buf.b, p)
}
