package h1

import (
	"strconv"
	"time"

	"sluice/internal/wire/socket"
)

// gap is the room between a head and a body that wait together for what belongs
// between them; tail is what may have to stand behind the body.
const (
	gap  = len("transfer-encoding: chunked\r\n\r\n") + len("ffffffffffffffff\r\n")
	tail = len("\r\n0\r\n\r\n")
)

// collect puts bytes of the body into the buffer, or sends them with it when they are too
// many. TLS makes a packet of each piece, so that there all go through the buffer.
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

// prefix is the room before a body in a buffer without a head.
func (o *responseWriter) prefix() int {
	if o.framing == sized {
		return 0
	}
	return gap
}

// Flush sends what was collected.
func (o *responseWriter) Flush() error {
	if o.buf == nil {
		return nil
	}
	return o.send(nil)
}

// send sends what was collected, and p behind it, as one chunk where there are chunks.
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

// frame completes what was collected to what goes over the wire before p: with the last
// lines of the head, the size of the chunk and, without p, its end.
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

// insert puts a text, which fits the gap, right before the body, and the head right
// before that.
func (o *responseWriter) insert(text []byte) []byte {
	buf, head := o.buf, o.head
	shift := gap - len(text)
	copy(buf.b[shift:], buf.b[:head])
	copy(buf.b[shift+head:], text)
	o.head = 0
	return buf.b[shift:buf.end]
}

// push writes pieces in one call of the system and empties the buffer.
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

// free gives the buffer back with what is in it.
func (o *responseWriter) free() {
	if o.buf != nil {
		o.buf.release()
		o.buf = nil
	}
}

// arm bounds the writes that follow, anew from time to time. Most connections do that by
// themselves, and only for a write that has to wait. The caller holds o.mu.
func (o *responseWriter) arm() {
	if o.c.bounded {
		return
	}
	now, stall := time.Now(), o.c.s.Patience.WriteStall
	if now.Sub(o.armed) < stall/8 {
		return
	}
	o.armed = now
	_ = o.c.nc.SetWriteDeadline(now.Add(stall)) // fails only when closed, as the write does
}

// count announces the length of a body that ended before any of it was sent.
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

// lastChunk sends the end of the body together with what is left of it.
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
