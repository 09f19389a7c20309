package h1

import (
	"io"
	"sync"

	"sluice/internal/wire/syntax"
)

// bufferBytes is the size of a buffer: a usual request or answer with its head. A
// connection holds one for input and one for output while there is something in them,
// so that neither unused connections nor waiting streams hold any.
const bufferBytes = 8 << 10

// buffer is room for bytes on their way. It belongs to one goroutine.
type buffer struct {
	b          []byte // the whole room
	start, end int    // what is in it
	lines      syntax.Lines
}

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, bufferBytes)} }}

func getBuffer() *buffer {
	buf := buffers.Get().(*buffer)
	buf.start, buf.end = 0, 0
	return buf
}

// release gives the buffer back, unless it has grown. It must not be used any more.
func (buf *buffer) release() {
	if len(buf.b) <= bufferBytes {
		buffers.Put(buf)
	}
}

// unread is what is in the buffer.
func (buf *buffer) unread() []byte { return buf.b[buf.start:buf.end] }

// fill reads once, after making room up to limit bytes.
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
