package wire

import (
	"bytes"
	"io"
	"os"
)

// Payload is a body to send: pieces in order, each in memory or a range of a
// spooled file, or a stream that can be sent once. It is a value; copies share
// the bytes, which nobody changes. The zero Payload is empty and replayable.
type Payload struct {
	mem    []byte    // all of it, as most bodies are
	segs   []segment // or its pieces
	stream io.Reader
	size   int64
}

type segment struct {
	mem  []byte
	file *os.File // when set, bytes [off, off+n) of the file
	off  int64
	n    int64
}

// Bytes is a payload in memory. The slice is kept, not copied.
func Bytes(b []byte) Payload {
	if len(b) == 0 {
		return Payload{}
	}
	return Payload{mem: b, size: int64(len(b))}
}

// Stream is a payload that can be sent once. Size is -1 when not known.
func Stream(r io.Reader, size int64) Payload { return Payload{stream: r, size: size} }

// Join puts replayable payloads one after the other. A stream among them is a
// programmer's mistake and panics.
func Join(ps ...Payload) Payload {
	var out Payload
	for _, p := range ps {
		if p.stream != nil {
			panic("wire: Join does not support streams")
		}
		out.segs = append(out.segs, p.segments()...)
		out.size += p.size
	}
	return out
}

// segments is the payload in pieces.
func (p Payload) segments() []segment {
	if p.mem != nil {
		return []segment{{mem: p.mem, n: p.size}}
	}
	return p.segs
}

// Len is the number of bytes, -1 when not known.
func (p Payload) Len() int64 { return p.size }

// Replayable reports whether the payload can be sent more than once.
func (p Payload) Replayable() bool { return p.stream == nil }

// Memory returns the bytes when the payload is one piece in memory or empty.
func (p Payload) Memory() ([]byte, bool) {
	switch {
	case p.stream != nil:
		return nil, false
	case len(p.segs) == 0:
		return p.mem, true
	case len(p.segs) == 1 && p.segs[0].file == nil:
		return p.segs[0].mem, true
	}
	return nil, false
}

// WriteTo sends the payload. File ranges go through io.Copy, so that a TCP
// connection may use sendfile; that moves the place in the file, so of the payloads of
// one spool only one is sent at a time. Open has no such limit.
func (p Payload) WriteTo(w io.Writer) (int64, error) {
	if p.stream != nil {
		return io.Copy(w, p.stream)
	}
	if p.mem != nil {
		n, err := w.Write(p.mem)
		return int64(n), err
	}
	var sent int64
	for _, s := range p.segs {
		n, err := s.writeTo(w)
		sent += n
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

func (s segment) writeTo(w io.Writer) (int64, error) {
	if s.file == nil {
		n, err := w.Write(s.mem)
		return int64(n), err
	}
	if _, err := s.file.Seek(s.off, io.SeekStart); err != nil {
		return 0, err
	}
	return io.Copy(w, io.LimitReader(s.file, s.n))
}

// Open returns a reader over the payload; of a stream, the stream itself.
func (p Payload) Open() io.Reader {
	if p.stream != nil {
		return p.stream
	}
	segments := p.segments()
	rs := make([]io.Reader, 0, len(segments))
	for _, s := range segments {
		if s.file != nil {
			rs = append(rs, io.NewSectionReader(s.file, s.off, s.n))
		} else {
			rs = append(rs, bytes.NewReader(s.mem))
		}
	}
	return io.MultiReader(rs...)
}
