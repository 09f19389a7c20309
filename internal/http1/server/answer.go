package server

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sluice/internal/kernel/wire"
)

// responseWriter writes one response. It buffers the output until there is enough of it or until
// Flush. It belongs to the goroutine that serves the connection; only sendContinue may be called
// by another one.
type responseWriter struct {
	c        *conn
	bare     bool // the method is HEAD
	headDone bool
	framing  bodyEnd
	left     int64   // remaining bytes of a body of announced length
	buf      *buffer // nil if nothing is buffered
	head     int     // bytes of the header in buf, which still lacks its last lines
	vec      [3][]byte
	chunks   net.Buffers // slice of vec

	mu    sync.Mutex // guards what follows
	armed time.Time  // when the write deadline was last set
	begun bool       // the client received part of the response, or will receive it
}

// bodyEnd is the way in which the end of a body is marked.
type bodyEnd int

const (
	undecided bodyEnd = iota // by its length if it ends before the first Flush, else by chunks
	inChunks
	sized  // by its announced length
	absent // there is no body; writes are ignored
)

var (
	errHeadTwice = errors.New("the response has a second header")
	errTooLong   = errors.New("the response is longer than announced")
	errTooShort  = errors.New("the response is shorter than announced")
	errBegun     = errors.New("the response has already started")
)

// begin prepares the writer for the response to the next request.
func (o *responseWriter) begin(method string) {
	o.bare, o.headDone, o.framing, o.left, o.head, o.begun = method == http.MethodHead, false, undecided, 0, 0, false
}

// Head buffers the status and the header. It omits hop-by-hop fields and invalid fields. length
// is the length of the body, or -1 if it is not known.
func (o *responseWriter) Head(status int, h wire.Header, length int64) error {
	if o.headDone {
		return errHeadTwice
	}
	o.headDone = true
	o.buf = getBuffer()
	b := o.c.s.dates.appendHead(o.buf.b[:0], status, h)
	if o.c.closing() {
		o.c.reusable = false
		b = append(b, "connection: close\r\n"...)
	}
	none := status < 200 || status == http.StatusNoContent || status == http.StatusNotModified
	switch {
	case length >= 0 && !none:
		o.framing, o.left = sized, length
		b = append(b, "content-length: "...)
		b = strconv.AppendInt(b, length, 10)
		b = append(b, "\r\n"...)
	case !none && !o.bare:
		o.hold(b)
		return nil
	}
	if none || o.bare {
		o.framing = absent
	}
	o.hold(append(b, "\r\n"...))
	return nil
}

// hold stores a header in the buffer, which may have grown for it, and reserves a gap between
// header and body.
func (o *responseWriter) hold(b []byte) {
	end := len(b)
	if o.framing == undecided {
		o.head, end = end, end+gap
	}
	if need := end + tail; need > cap(b) {
		b = append(b[:cap(b)], make([]byte, need-cap(b))...)
	}
	o.buf.b, o.buf.end = b[:cap(b)], end
}

// Write appends to the body.
func (o *responseWriter) Write(p []byte) (int, error) {
	if !o.headDone {
		if err := o.Head(http.StatusOK, nil, -1); err != nil {
			return 0, err
		}
	}
	switch {
	case o.framing == absent || len(p) == 0:
		return len(p), nil
	case o.framing == sized && int64(len(p)) > o.left:
		o.c.reusable = false
		return 0, errTooLong
	case o.framing == sized:
		o.left -= int64(len(p))
	}
	if err := o.collect(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// finish sends the buffered rest and the end of the body. It returns an error if the response is
// shorter than announced, so that the connection is closed.
func (o *responseWriter) finish() error {
	switch {
	case !o.headDone: // an empty response
		if err := o.Head(http.StatusOK, nil, 0); err != nil {
			return err
		}
	case o.framing == undecided:
		o.count()
	case o.framing == inChunks:
		return o.lastChunk()
	}
	if o.framing == sized && o.left > 0 && !o.bare {
		return errTooShort
	}
	return o.Flush()
}

// sendContinue sends 100 Continue to a client that waits with its body.
// Source: RFC 9110 section 10.1.1.
func (o *responseWriter) sendContinue() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun {
		return errBegun
	}
	o.arm() // the deadline of the previous response may have passed
	_, err := o.c.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	return err
}

// closing reports whether the response must be the last one of the connection.
func (c *conn) closing() bool {
	return !c.reusable || c.s.leaving.Load() || c.s.crowded.Load() || c.body != nil && c.body.shouldDiscard()
}
