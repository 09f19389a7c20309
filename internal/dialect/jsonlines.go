package dialect

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"sluice/internal/fault"
)

// chunkBytes is how much is made at once of a file that is read in other words.
const chunkBytes = 32 << 10

// ChunkReader is a reader of what next appends, piece by piece, until it gives an error; io.EOF
// is the end. What came with another error is read before it, so that it can be passed on.
func ChunkReader(next func(dst []byte) ([]byte, error)) io.Reader { return &chunkReader{next: next} }

type chunkReader struct {
	next   func(dst []byte) ([]byte, error)
	out    []byte // made, and not yet read from at on
	offset int
	err    error // after out
}

// Read makes as many pieces as one read shall take.
func (p *chunkReader) Read(b []byte) (int, error) {
	if p.offset == len(p.out) {
		for p.out, p.offset = p.out[:0], 0; p.err == nil && len(p.out) < chunkBytes; {
			p.out, p.err = p.next(p.out)
		}
	}
	n := copy(b, p.out[p.offset:])
	if p.offset += n; n == 0 || p.offset == len(p.out) && errors.Is(p.err, io.EOF) {
		return n, p.err
	}
	return n, nil
}

// LineReader makes a reader of a file of lines in other words, line by line, so that its length
// is of no matter. Write appends what a line is to the caller, with the line's end; an
// error ends the file. Lines that are blank are left out, one over MaxLineBytes is
// fault.UpstreamInvalid.
func LineReader(src io.Reader, write func(dst, line []byte) ([]byte, error)) io.Reader {
	r := rows{src: bufio.NewReaderSize(src, chunkBytes), write: write}
	return ChunkReader(r.next)
}

type rows struct {
	src   *bufio.Reader
	write func(dst, line []byte) ([]byte, error)
	part  []byte // of a line that is longer than the buffer
}

// next appends what the next line is.
func (r *rows) next(dst []byte) ([]byte, error) {
	r.part = r.part[:0]
	for {
		line, err := r.src.ReadSlice('\n')
		if len(r.part)+len(line) > MaxLineBytes {
			return dst, fault.Newf(fault.UpstreamInvalid, "the provider's file contains a line longer than %d bytes", MaxLineBytes)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			r.part = append(r.part, line...)
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return dst, err // the line is not whole
		}
		if len(r.part) > 0 {
			r.part = append(r.part, line...)
			line = r.part
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return dst, err
		}
		out, bad := r.write(dst, line)
		if bad != nil {
			return out, bad
		}
		return out, err
	}
}
