package transport

import (
	"errors"
	"io"
	"time"

	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/wire"
)

// http1Response is a Response with its body in one allocation.
type http1Response struct {
	Response
	body  body
	lines wire.Header // buffer for the header
}

// ResponseBuffer is the memory in which the transport builds an HTTP/1.1 response. A caller that
// reuses one for successive calls avoids allocating new ones. The zero value is ready to use. It
// belongs to the goroutine of the call.
type ResponseBuffer struct{ response http1Response }

// Clear drops the response in the buffer. The body of that response must be closed.
func (r *ResponseBuffer) Clear() {
	lines := r.response.lines
	clear(lines[:cap(lines)])
	r.response = http1Response{lines: lines[:0]}
}

// begin returns the buffer's response, reset for the next call; a new one when r is nil.
func (r *ResponseBuffer) begin() *http1Response {
	if r == nil {
		return new(http1Response)
	}
	r.response = http1Response{lines: r.response.lines}
	return &r.response
}

// fill sets the response from the head.
func (a *http1Response) fill(h head, method string) {
	b := &a.body
	a.lines = h.header
	a.Response = Response{Status: h.status, Header: h.header, Body: b, Proto: "HTTP/1.1"}
	if h.minor == '0' {
		a.Proto = "HTTP/1.0"
	}
	b.reusable = !h.closes
	switch {
	case bodyless(method, h.status):
		b.kind = sized
	case h.chunked:
		b.kind, a.Length = chunked, -1
	case h.length >= 0:
		b.kind, b.left, a.Length = sized, h.length, h.length
	default:
		b.kind, a.Length, a.UntilClose, b.reusable = untilClose, -1, true, false
	}
	if b.kind == sized && b.left == 0 {
		b.end(io.EOF)
	}
}

// framing is what ends a body.
type framing int

const (
	sized framing = iota
	chunked
	untilClose
)

// body reads the body of an HTTP/1.1 response and owns the connection and buffer of the call.
type body struct {
	cn   *conn   // nil after the end of the body
	buf  *buffer // nil when all bytes that came with the head are consumed
	stop func() bool
	up   *upload // nil when the request was sent without an upload goroutine
	idle time.Duration

	received bool // a byte of a response has arrived, even of an interim one
	kind     framing
	left     int64 // remaining bytes of a sized body
	chunks   syntax.Chunks
	reusable bool  // the connection may be used again
	err      error // result of all further reads, once the body has ended
}

// Read implements Body.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := b.read(p)
	if err != nil {
		b.end(err)
	}
	return n, b.err
}

// Close implements Body.
func (b *body) Close() error {
	if b.cn != nil {
		b.finish(b.rest())
		b.err = errClosed
	}
	return nil
}

// read returns the next bytes. It decodes what it reads from the connection in place, so that it
// needs no second buffer.
func (b *body) read(p []byte) (int, error) {
	if b.buf != nil {
		n, used, err := b.decode(p, b.buf.unread())
		b.buf.start += used
		if err == nil && b.buf.pending() == 0 {
			b.buf.release()
			b.buf = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	for {
		b.cn.armBody(b.idle)
		m, err := b.cn.nc.Read(b.clip(p))
		if m == 0 {
			return 0, b.broken(err)
		}
		n, used, err := b.decode(p, p[:m])
		if used < m { // bytes after the end of the body
			b.reusable = false
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// waits reports whether a part of the body has not arrived yet.
func (b *body) waits() bool {
	return b.cn != nil && (b.kind != sized || int64(b.buf.pending()) < b.left)
}

// clip returns as much of p as may be read without going beyond the end of a sized body.
func (b *body) clip(p []byte) []byte {
	if b.kind == sized && b.left < int64(len(p)) {
		return p[:b.left]
	}
	return p
}

// decode removes the framing from src. Dst may be the beginning of src itself. At the end of the
// body the error is io.EOF; used is how many bytes of src belong to the body.
func (b *body) decode(dst, src []byte) (n, used int, err error) {
	switch b.kind {
	case chunked:
		n, used, err = b.chunks.Decode(dst, src)
		if errors.Is(err, syntax.ErrChunk) {
			err = invalid(err)
		}
		return n, used, err
	case sized:
		src = src[:min(int64(len(src)), b.left)]
	case untilClose: // all of it
	}
	n = len(src)
	if n > 0 && &dst[0] != &src[0] {
		n = copy(dst, src)
	}
	if b.kind == sized {
		if b.left -= int64(n); b.left == 0 {
			err = io.EOF
		}
	}
	return n, n, err
}

// broken returns the error for a read that returned no bytes.
func (b *body) broken(err error) error {
	switch {
	case b.up.sourceErr() != nil && b.cn.ended.Load() == nil:
		return b.up.sourceErr()
	case b.kind == untilClose && err == io.EOF:
		return io.EOF
	case err == nil:
		err = io.ErrNoProgress
	}
	return b.cn.failure(err, noBody)
}

// rest consumes the remainder of the body if all of it has arrived, and reports whether it has.
func (b *body) rest() bool {
	if b.buf == nil {
		return false
	}
	_, used, err := b.decode(b.buf.unread(), b.buf.unread())
	b.buf.start += used
	return err == io.EOF
}

// end makes err the result of all further reads.
func (b *body) end(err error) {
	b.err = err
	b.finish(err == io.EOF)
}

// finish releases the connection. Clean means that the response was read to its end, so that the
// connection can serve the next call.
func (b *body) finish(clean bool) {
	cn := b.cn
	b.cn = nil
	if b.buf != nil {
		clean = clean && b.buf.pending() == 0
		b.buf.release()
		b.buf = nil
	}
	clean = clean && b.up.isSent()
	if b.stop != nil && !b.stop() { // the connection is being closed at this moment
		clean = false
	}
	if clean && b.reusable {
		cn.h.put(cn)
		return
	}
	cn.close()
	b.up.wait()
}
