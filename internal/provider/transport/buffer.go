package transport

import (
	"bytes"
	"io"
	"sync"

	"sluice/internal/wire"
	"sluice/internal/wire/syntax"
)

// bufferBytes is the size of a buffer: a usual head and a body of some 10 KB in
// one read. A connection holds one from sending until the head and what came with
// it are consumed, so that open streams and unused connections hold none. One that waits
// for longer than haste holds no more than waitingBytes: an answer that took so long may
// cost a second read, and a thousand that are waited for hold 1 MB instead of 16.
const (
	bufferBytes  = 16 << 10
	waitingBytes = 1 << 10
)

// buffer is room for a request's head and then for the answer's. It belongs to
// one goroutine.
type buffer struct {
	b          []byte // whole room
	start, end int    // bytes read and not yet consumed
	lines      syntax.Lines
	out        appender
}

var (
	buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, bufferBytes)} }}
	waiting = sync.Pool{New: func() any { return &buffer{b: make([]byte, waitingBytes)} }}
)

func getBuffer() *buffer { return emptyOf(&buffers) }

func emptyOf(pool *sync.Pool) *buffer {
	buf := pool.Get().(*buffer)
	buf.start, buf.end = 0, 0
	return buf
}

// release gives the buffer back, unless it has grown. It must not be used any more.
func (buf *buffer) release() {
	buf.out.b = nil
	switch len(buf.b) {
	case bufferBytes:
		buffers.Put(buf)
	case waitingBytes:
		waiting.Put(buf)
	}
}

// shrink is a buffer for a long wait in place of buf: a small one, unless there is
// something in buf.
func (buf *buffer) shrink() *buffer {
	if buf.pending() > 0 {
		return buf
	}
	buf.release()
	return emptyOf(&waiting)
}

// pending is the number of bytes read and not consumed.
func (buf *buffer) pending() int { return buf.end - buf.start }

// unread is what was read and not consumed.
func (buf *buffer) unread() []byte { return buf.b[buf.start:buf.end] }

// readHead reads one head, at most limit bytes of it, and consumes it; its lines go into
// the room of into. What came behind it stays in the buffer. Errors of nc come as they
// are; io.EOF means that not one byte came.
func (buf *buffer) readHead(nc io.Reader, limit int, into wire.Header) (head, error) {
	scanned := 0 // of what is unread
	for {
		from := buf.start + max(0, scanned-len(syntax.HeadEnd)+1)
		if i := bytes.Index(buf.b[from:buf.end], syntax.HeadEnd); i >= 0 {
			end := from + i + len(syntax.HeadEnd)
			if end-buf.start > limit {
				return head{}, garbage("the response header is too large")
			}
			h, err := buf.parseHead(buf.b[buf.start:end], into)
			buf.start = end
			return h, err
		}
		if err := plausible(buf.unread(), scanned, limit); err != nil {
			return head{}, err
		}
		scanned = buf.pending()
		if err := buf.fill(nc, limit); err != nil {
			return head{}, err
		}
	}
}

// fill reads once, after making room for heads of up to limit bytes.
func (buf *buffer) fill(nc io.Reader, limit int) error {
	if buf.end == len(buf.b) && buf.start > 0 {
		buf.end = copy(buf.b, buf.unread())
		buf.start = 0
	}
	if buf.end == len(buf.b) {
		buf.b = append(buf.b, make([]byte, min(len(buf.b), limit+1))...)
	}
	n, err := nc.Read(buf.b[buf.end:])
	buf.end += n
	switch {
	case n > 0:
		return nil
	case err == io.EOF && buf.pending() > 0:
		return io.ErrUnexpectedEOF
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// plausible refuses an incomplete head that cannot become a good one, so that a
// peer which speaks something else is not waited for. What is before from has been
// looked at.
func plausible(b []byte, from, limit int) error {
	n := min(len(b), len(httpVersion))
	switch {
	case string(b[:n]) != httpVersion[:n]:
		return garbage("the response is not HTTP/1")
	case len(b) > limit:
		return garbage("the response header is too large")
	}
	if err := syntax.CheckLineEnds(b, from); err != nil {
		return invalid(err)
	}
	return nil
}
