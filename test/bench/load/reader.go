package load

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
)

var errTooLong = errors.New("a line or head longer than the buffer")

// reader reads responses off a connection. It belongs to one goroutine.
type reader struct {
	src      io.Reader
	buf      []byte
	from, to int // unread bytes are buf[from:to]
}

// reset starts on a new connection.
func (r *reader) reset(src io.Reader) { r.src, r.from, r.to = src, 0, 0 }

// fill reads more behind the unread bytes, which may move.
func (r *reader) fill() error {
	if r.from == r.to {
		r.from, r.to = 0, 0
	} else if r.to == len(r.buf) {
		if r.from == 0 {
			return errTooLong
		}
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.from = 0
	}
	n, err := r.src.Read(r.buf[r.to:])
	r.to += n
	if n > 0 {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// until returns the bytes before the next end and reads past it. They are good
// until the next call.
func (r *reader) until(end string) ([]byte, error) {
	searched := 0
	for {
		if i := bytes.Index(r.buf[r.from+searched:r.to], []byte(end)); i >= 0 {
			b := r.buf[r.from : r.from+searched+i]
			r.from += searched + i + len(end)
			return b, nil
		}
		searched = max(r.to-r.from-len(end)+1, 0)
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// response reads one response to its end, shows the parts of its body to see, when
// given, and returns the body's length.
func (r *reader) response(see func([]byte)) (a responseHead, size int64, err error) {
	head, err := r.until("\r\n\r\n")
	if err != nil {
		return a, 0, err
	}
	if a, err = parseHead(head); err != nil {
		return a, 0, err
	}
	if a.length >= 0 {
		return a, a.length, r.body(a.length, see)
	}
	size, err = r.chunks(see)
	return a, size, err
}

// body reads n bytes.
func (r *reader) body(n int64, see func([]byte)) error {
	for n > 0 {
		if r.from == r.to {
			if err := r.fill(); err != nil {
				return err
			}
		}
		part := r.buf[r.from:min(int64(r.to), int64(r.from)+n)]
		r.from += len(part)
		n -= int64(len(part))
		if see != nil {
			see(part)
		}
	}
	return nil
}

// chunks reads a body in chunks, and the trailer.
func (r *reader) chunks(see func([]byte)) (size int64, err error) {
	for {
		line, err := r.until("\r\n")
		if err != nil {
			return size, err
		}
		line, _, _ = bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(line), 16, 64)
		if err != nil || n > math.MaxInt64 {
			return size, errChunk
		}
		if n == 0 {
			return size, r.trailer()
		}
		if err := r.body(int64(n), see); err != nil {
			return size, err
		}
		size += int64(n)
		if end, err := r.until("\r\n"); err != nil || len(end) > 0 {
			return size, errors.Join(errChunk, err)
		}
	}
}

// trailer reads up to the empty line.
func (r *reader) trailer() error {
	for {
		line, err := r.until("\r\n")
		if err != nil || len(line) == 0 {
			return err
		}
	}
}
