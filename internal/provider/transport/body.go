package transport

import (
	"errors"
	"io"
	"time"

	"sluice/internal/wire"
	"sluice/internal/wire/syntax"
)

// http1Response is a Response with its body in one allocation.
type http1Response struct {
	Response
	body  body
	lines wire.Header // room for the header
}

// ResponseBuffer is where the transport makes an answer that comes over HTTP/1.1. A caller that
// keeps one for calls that follow one another spares the making of new ones. Zero is
// ready. It belongs to the goroutine of the call.
type ResponseBuffer struct{ response http1Response }

// Clear forgets the answer that was made in the room, whose body was closed.
func (r *ResponseBuffer) Clear() {
	lines := r.response.lines
	clear(lines[:cap(lines)])
	r.response = http1Response{lines: lines[:0]}
}

// begin is the room's answer, fit for the next call; that of no room is a new one.
func (r *ResponseBuffer) begin() *http1Response {
	if r == nil {
		return new(http1Response)
	}
	r.response = http1Response{lines: r.response.lines}
	return &r.response
}

// fill takes over what the head says.
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

// framing says what ends a body.
type framing int

const (
	sized framing = iota
	chunked
	untilClose
)

// body reads the body of an HTTP/1.1 answer and holds what belongs to the call.
type body struct {
	cn   *conn   // nil when the body has ended
	buf  *buffer // nil when all that came with the head is consumed
	stop func() bool
	up   *upload // nil when the request went out in one piece
	idle time.Duration

	received bool // a byte of an answer has come, of an interim one too
	kind     framing
	left     int64 // of a sized body
	chunks   syntax.Chunks
	reusable bool  // the connection may be used again
	err      error // what ended the body
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

// read delivers the next bytes. What one read of the connection brought is decoded
// where it lies, so that no second buffer is needed.
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
		if used < m { // bytes behind the end of the body
			b.reusable = false
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// waits reports whether a part of the body has still to come.
func (b *body) waits() bool {
	return b.cn != nil && (b.kind != sized || int64(b.buf.pending()) < b.left)
}

// clip is as much of p as may be read without going beyond a sized body.
func (b *body) clip(p []byte) []byte {
	if b.kind == sized && b.left < int64(len(p)) {
		return p[:b.left]
	}
	return p
}

// decode takes the framing off src. Dst may be the beginning of src itself. The
// end of the body is io.EOF; used tells how much of src belongs to it.
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

// broken describes a read that brought nothing.
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

// rest consumes what is left of the body if all of it has come already, and
// reports whether it has.
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

// finish parts with the connection: clean says that the answer was read to its
// end, so that the connection may serve the next call.
func (b *body) finish(clean bool) {
	cn := b.cn
	b.cn = nil
	if b.buf != nil {
		clean = clean && b.buf.pending() == 0
		b.buf.release()
		b.buf = nil
	}
	clean = clean && b.up.isSent()
	if b.stop != nil && !b.stop() { // the connection is being closed this moment
		clean = false
	}
	if clean && b.reusable {
		cn.h.put(cn)
		return
	}
	cn.close()
	b.up.wait()
}
