package server

import (
	"strconv"
	"time"

	"sluice/internal/http1/socket"
)

// gap is the free space between a buffered header and body, for the fields and chunk size between
// them. tail is the space for the end of a chunk or body.
const (
	gap  = len("transfer-encoding: chunked\r\n\r\n") + len("ffffffffffffffff\r\n")
	tail = len("\r\n0\r\n\r\n")
)

// collect adds bytes of the body to the buffer. If they do not fit, it sends them together with
// the buffer. Under TLS all bytes go through the buffer, because TLS makes a packet of each
// write.
func (o *responseWriter) collect(p []byte) error {
	for {
		if o.buf == nil {
			o.buf = getBuffer()
			o.buf.end = o.prefix()
		}
		space := len(o.buf.b) - tail - o.buf.end
		switch {
		case len(p) <= space:
			o.buf.end += copy(o.buf.b[o.buf.end:], p)
			return nil
		case !o.c.tls:
			return o.send(p)
		}
		n := copy(o.buf.b[o.buf.end:], p[:max(0, space)])
		o.buf.end += n
		p = p[n:]
		if err := o.send(nil); err != nil {
			return err
		}
	}
}

// prefix returns the size of the gap before a body in a buffer without a header.
func (o *responseWriter) prefix() int {
	if o.framing == sized {
		return 0
	}
	return gap
}

// Flush sends the buffered bytes.
func (o *responseWriter) Flush() error {
	if o.buf == nil {
		return nil
	}
	return o.send(nil)
}

// send sends the buffered bytes and then p. With chunked framing they are one chunk.
func (o *responseWriter) send(p []byte) error {
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

// frame completes the buffered bytes for sending before p. It adds the last lines of the header,
// the chunk size and, without p, the end of the chunk.
func (o *responseWriter) frame(p int) []byte {
	buf, head := o.buf, o.head
	if o.framing != inChunks {
		return buf.unread()
	}
	var space [gap]byte
	line := space[:0]
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

// insert puts a text, which fits the gap, directly before the body, and the header directly
// before the text.
func (o *responseWriter) insert(text []byte) []byte {
	buf, head := o.buf, o.head
	shift := gap - len(text)
	copy(buf.b[shift:], buf.b[:head])
	copy(buf.b[shift+head:], text)
	o.head = 0
	return buf.b[shift:buf.end]
}

// push writes the slices with one system call and releases the buffer.
func (o *responseWriter) push(b, p, trailer []byte) error {
	o.mu.Lock()
	o.begun = true
	o.arm()
	o.mu.Unlock()
	var err error
	switch {
	case len(p) == 0:
		_, err = o.c.nc.Write(b)
	default:
		o.vec = [3][]byte{b, p, trailer}
		o.chunks = o.vec[:]
		err = socket.WriteBuffers(o.c.nc, &o.chunks)
		o.vec = [3][]byte{}
	}
	o.free()
	return err
}

// free releases the buffer and discards its contents.
func (o *responseWriter) free() {
	if o.buf != nil {
		o.buf.release()
		o.buf = nil
	}
}

// arm sets the deadline of the next writes, and again at intervals. Most connections do this
// automatically, and only for a write that has to wait. The caller holds o.mu.
func (o *responseWriter) arm() {
	if o.c.bounded {
		return
	}
	now, stall := time.Now(), o.c.s.Patience.WriteStall
	if now.Sub(o.armed) < stall/8 {
		return
	}
	o.armed = now
	_ = o.c.nc.SetWriteDeadline(now.Add(stall)) // fails only on a closed connection, as the write does
}

// count adds the length of a body that ended before any of it was sent.
func (o *responseWriter) count() {
	buf := o.buf
	var space [gap]byte
	line := append(space[:0], "content-length: "...)
	line = strconv.AppendInt(line, int64(buf.end-o.head-gap), 10)
	line = append(line, "\r\n\r\n"...)
	buf.start = gap - len(line)
	o.insert(line)
	o.framing = absent
}

// lastChunk sends the end of the body together with the buffered rest of it.
func (o *responseWriter) lastChunk() error {
	if o.buf == nil {
		o.buf = getBuffer()
		o.buf.end = gap
	}
	b := o.frame(0)
	begin := o.buf.end
	o.buf.end += copy(o.buf.b[begin:], "0\r\n\r\n")
	return o.push(b[:len(b)+o.buf.end-begin], nil, nil)
}
