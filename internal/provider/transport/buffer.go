package transport

import (
	"bytes"
	"io"
	"sync"

	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/wire"
)

// bufferBytes is the size of a buffer. It holds a typical head and a body of about 10 KB in one
// read. A connection has a buffer from sending until the head and the bytes read with it are
// consumed, so open streams and idle connections have none. After waiting longer than haste, a
// connection uses only waitingBytes. A response that took so long may need a second read, and a
// thousand waiting calls use 1 MB instead of 16.
const (
	bufferBytes  = 16 << 10
	waitingBytes = 1 << 10
)

// buffer contains the head of a request and then that of the response. It belongs to one
// goroutine.
type buffer struct {
	b          []byte // complete capacity
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

// release returns the buffer to the pool, unless it has grown. It must not be used afterwards.
func (buf *buffer) release() {
	buf.out.b = nil
	switch len(buf.b) {
	case bufferBytes:
		buffers.Put(buf)
	case waitingBytes:
		waiting.Put(buf)
	}
}

// shrink returns a buffer for a long wait: a small one when buf is empty, otherwise buf.
func (buf *buffer) shrink() *buffer {
	if buf.pending() > 0 {
		return buf
	}
	buf.release()
	return emptyOf(&waiting)
}

// pending returns the number of bytes read and not consumed.
func (buf *buffer) pending() int { return buf.end - buf.start }

// unread returns the bytes read and not consumed.
func (buf *buffer) unread() []byte { return buf.b[buf.start:buf.end] }

// readHead reads one head of at most limit bytes and consumes it. The lines use the
// memory of into. Bytes after the head remain in the buffer. Errors of nc are returned unchanged. io.EOF means
// that no byte arrived.
func (buf *buffer) readHead(nc io.Reader, limit int, into wire.Header) (head, error) {
	scanned := 0 // number of unread bytes already scanned
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

// fill reads once, after growing the buffer for heads of up to limit bytes.
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

// plausible refuses an incomplete head that cannot become valid, so that the client does not
// wait for a peer that uses another protocol. Bytes before from were already checked.
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
