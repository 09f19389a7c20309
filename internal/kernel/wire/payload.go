package wire

import (
	"bytes"
	"io"
	"os"
)

// Payload is a body to send: segments in order, each in memory or a range of a spooled file, or
// a stream that can be sent once. It is a value. Copies share the bytes, which must not change.
// The zero Payload is empty and replayable.
type Payload struct {
	mem    []byte    // the complete body, as for most bodies
	segs   []segment // or its segments
	stream io.Reader
	size   int64
}

type segment struct {
	mem  []byte
	file *os.File // when set, bytes [off, off+n) of the file
	off  int64
	n    int64
}

// Bytes returns a payload in memory. It retains the slice without a copy.
func Bytes(b []byte) Payload {
	if len(b) == 0 {
		return Payload{}
	}
	return Payload{mem: b, size: int64(len(b))}
}

// Stream returns a payload that can be sent once. A size of -1 means unknown.
func Stream(r io.Reader, size int64) Payload { return Payload{stream: r, size: size} }

// Join concatenates replayable payloads. A stream among them is a programming error and panics.
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

// segments returns the segments of the payload.
func (p Payload) segments() []segment {
	if p.mem != nil {
		return []segment{{mem: p.mem, n: p.size}}
	}
	return p.segs
}

// Len returns the number of bytes, or -1 when it is unknown.
func (p Payload) Len() int64 { return p.size }

// Replayable reports whether the payload can be sent more than once.
func (p Payload) Replayable() bool { return p.stream == nil }

// Memory returns the bytes when the payload is one segment in memory or empty.
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

// WriteTo sends the payload. It sends file ranges through io.Copy, so that a TCP connection may
// use sendfile. This moves the file offset, so only one payload of a spool may be sent at a
// time. Open does not have this limit.
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

// Open returns a reader of the payload. For a stream it returns the stream itself.
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
