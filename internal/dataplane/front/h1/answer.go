package h1

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sluice/internal/dataplane/front"
	"sluice/internal/wire"
	"sluice/internal/wire/syntax"
)

// answer carries one answer. What is written is collected until there is enough of it,
// or until Flush. It belongs to the goroutine that serves the connection; only invite
// may be called by another.
type answer struct {
	c        *conn
	bare     bool // the method is HEAD
	headDone bool
	framing  ending
	left     int64   // of a body of announced length
	buf      *buffer // nil when nothing is collected
	head     int     // bytes of the head in buf that still lack their last lines
	vec      [3][]byte
	pieces   net.Buffers // of vec

	total int64     // bytes of all answers of the connection
	armed time.Time // when the limit of writes was last set

	mu    sync.Mutex // guards begun
	begun bool       // the client has a part of the answer, or will have
}

// ending is how the end of a body is told.
type ending int

const (
	undecided ending = iota // by its length if it ends before the first Flush, else in chunks
	inChunks
	sized  // by its announced length
	absent // there is none, whatever is written
)

var (
	errHeadTwice = errors.New("the answer has a second head")
	errTooLong   = errors.New("the answer is longer than announced")
	errTooShort  = errors.New("the answer is shorter than announced")
	errBegun     = errors.New("the answer has begun")
)

// gap is the room between a head and a body that wait together for what belongs
// between them; tail is what may have to stand behind the body.
const (
	gap  = len("transfer-encoding: chunked\r\n\r\n") + len("ffffffffffffffff\r\n")
	tail = len("\r\n0\r\n\r\n")
)

// begin makes the answer one to the next request.
func (o *answer) begin(method string) {
	o.bare, o.headDone, o.framing, o.left, o.head, o.begun = method == http.MethodHead, false, undecided, 0, 0, false
}

// Head collects the status and the header. Lines about the connection and those that
// cannot stand in a header are left out. Length is that of the body, -1 when not known.
func (o *answer) Head(status int, h wire.Header, length int64) error {
	if o.headDone {
		return errHeadTwice
	}
	o.headDone = true
	o.buf = getBuffer()
	b := appendHead(o.buf.b[:0], status, h)
	if o.c.closing() {
		o.c.keep = false
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

// hold keeps a head in the buffer, which may have grown for it, and makes place for
// what comes between it and the body.
func (o *answer) hold(b []byte) {
	end := len(b)
	if o.framing == undecided {
		o.head, end = end, end+gap
	}
	if most := end + tail; most > cap(b) {
		b = append(b[:cap(b)], make([]byte, most-cap(b))...)
	}
	o.buf.b, o.buf.end = b[:cap(b)], end
}

// Write appends to the body.
func (o *answer) Write(p []byte) (int, error) {
	if !o.headDone {
		if err := o.Head(http.StatusOK, nil, -1); err != nil {
			return 0, err
		}
	}
	switch {
	case o.framing == absent || len(p) == 0:
		return len(p), nil
	case o.framing == sized && int64(len(p)) > o.left:
		o.c.keep = false
		return 0, errTooLong
	case o.framing == sized:
		o.left -= int64(len(p))
	}
	if err := o.collect(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// collect puts bytes of the body into the buffer, or sends them with it when they are too
// many. TLS makes a packet of each piece, so that there all go through the buffer.
func (o *answer) collect(p []byte) error {
	for {
		if o.buf == nil {
			o.buf = getBuffer()
			o.buf.end = o.prefix()
		}
		room := len(o.buf.b) - tail - o.buf.end
		switch {
		case len(p) <= room:
			o.buf.end += copy(o.buf.b[o.buf.end:], p)
			return nil
		case !o.c.tls:
			return o.send(p)
		}
		n := copy(o.buf.b[o.buf.end:], p[:max(0, room)])
		o.buf.end += n
		p = p[n:]
		if err := o.send(nil); err != nil {
			return err
		}
	}
}

// prefix is the room before a body in a buffer without a head.
func (o *answer) prefix() int {
	if o.framing == sized {
		return 0
	}
	return gap
}

// Flush sends what was collected.
func (o *answer) Flush() error {
	if o.buf == nil {
		return nil
	}
	return o.send(nil)
}

// send sends what was collected, and p behind it, as one chunk where there are chunks.
func (o *answer) send(p []byte) error {
	if o.framing == undecided {
		o.framing = inChunks
	}
	b, trailer := o.frame(len(p)), []byte(nil)
	if o.framing == inChunks && len(p) > 0 {
		trailer = crlf
	}
	return o.push(b, p, trailer)
}

var crlf = []byte("\r\n")

// frame completes what was collected to what goes over the wire before p: with the last
// lines of the head, the size of the chunk and, without p, its end.
func (o *answer) frame(p int) []byte {
	buf, head := o.buf, o.head
	if o.framing != inChunks {
		return buf.unread()
	}
	var room [gap]byte
	line := room[:0]
	if head > 0 {
		line = append(line, "transfer-encoding: chunked\r\n\r\n"...)
	}
	if size := buf.end - head - gap + p; size > 0 {
		line = strconv.AppendInt(line, int64(size), 16)
		line = append(line, "\r\n"...)
		if p == 0 {
			buf.end += copy(buf.b[buf.end:], crlf)
		}
	}
	return o.insert(line)
}

// insert puts a text, which fits the gap, right before the body, and the head right
// before that.
func (o *answer) insert(text []byte) []byte {
	buf, head := o.buf, o.head
	shift := gap - len(text)
	copy(buf.b[shift:], buf.b[:head])
	copy(buf.b[shift+head:], text)
	o.head = 0
	return buf.b[shift:buf.end]
}

// push writes pieces in one call of the system and empties the buffer.
func (o *answer) push(b, p, trailer []byte) error {
	o.mu.Lock()
	o.begun = true
	o.mu.Unlock()
	o.arm(len(b) + len(p))
	var err error
	switch {
	case len(p) == 0:
		_, err = o.c.nc.Write(b)
	default:
		o.vec = [3][]byte{b, p, trailer}
		o.pieces = o.vec[:]
		_, err = o.pieces.WriteTo(o.c.nc)
		o.vec = [3][]byte{}
	}
	o.free()
	return err
}

// free gives the buffer back with what is in it.
func (o *answer) free() {
	if o.buf != nil {
		o.buf.release()
		o.buf = nil
	}
}

// arm bounds the writes that follow, anew from time to time. The first ones go into
// buffers of the system and cannot block.
func (o *answer) arm(n int) {
	if o.total += int64(n); o.total <= front.Unwatched {
		return
	}
	now, stall := time.Now(), o.c.s.Patience.Stall
	if now.Sub(o.armed) < stall/8 {
		return
	}
	o.armed = now
	_ = o.c.nc.SetWriteDeadline(now.Add(stall)) // fails only when closed, as the write does
}

// finish sends what is left and the end of the body. An answer that is shorter than
// announced is an error, so that its connection is closed.
func (o *answer) finish() error {
	switch {
	case !o.headDone: // an empty answer
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

// count announces the length of a body that ended before any of it was sent.
func (o *answer) count() {
	buf := o.buf
	var room [gap]byte
	line := append(room[:0], "content-length: "...)
	line = strconv.AppendInt(line, int64(buf.end-o.head-gap), 10)
	line = append(line, "\r\n\r\n"...)
	buf.start = gap - len(line)
	o.insert(line)
	o.framing = absent
}

// lastChunk sends the end of the body together with what is left of it.
func (o *answer) lastChunk() error {
	if o.buf == nil {
		o.buf = getBuffer()
		o.buf.end = gap
	}
	b := o.frame(0)
	at := o.buf.end
	o.buf.end += copy(o.buf.b[at:], "0\r\n\r\n")
	return o.push(b[:len(b)+o.buf.end-at], nil, nil)
}

// invite asks a client for a body that it holds back until then.
// Source: RFC 9110 section 10.1.1.
func (o *answer) invite() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun {
		return errBegun
	}
	_, err := o.c.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	return err
}

// closing reports whether the answer is to be the connection's last.
func (c *conn) closing() bool {
	return !c.keep || c.s.draining.Load() || c.body != nil && c.body.unwanted()
}

// appendHead writes the status line and the lines that may be sent. Date is added where
// the upstream's is not there.
func appendHead(b []byte, status int, h wire.Header) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\n"...)
	dated := false
	for i := range h {
		f := &h[i]
		if wire.HopByHop(f.Name) || f.Name == "content-length" || !syntax.TokenName(f.Name) || !wire.ValidValue(f.Value) {
			continue
		}
		dated = dated || f.Name == "date"
		b = append(b, f.Name...)
		b = append(b, ": "...)
		b = append(b, f.Value...)
		b = append(b, "\r\n"...)
	}
	if !dated {
		b = append(b, "date: "...)
		b = append(b, date()...)
		b = append(b, "\r\n"...)
	}
	return b
}
