package uploads

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"sluice/internal/kernel/fault"
)

// chunkBytes is the amount of a translated file that is produced at once.
const chunkBytes = 32 << 10

// ChunkReader reads the chunks that next appends, until next returns an error; io.EOF is the end.
// Chunks that next appends together with another error are read before that error.
func ChunkReader(next func(dst []byte) ([]byte, error)) io.Reader { return &chunkReader{next: next} }

type chunkReader struct {
	next   func(dst []byte) ([]byte, error)
	out    []byte // produced, and unread from offset on
	offset int
	err    error // returned after out
}

// Read produces enough chunks for one read.
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

// LineReader translates a file of lines, one line at a time, so that its length does not matter.
// Write appends the caller's form of a line, including the line end. An error of write ends the
// file. Blank lines are omitted. A line over MaxLineBytes is fault.UpstreamInvalid.
func LineReader(src io.Reader, write func(dst, line []byte) ([]byte, error)) io.Reader {
	r := rows{src: bufio.NewReaderSize(src, chunkBytes), write: write}
	return ChunkReader(r.next)
}

type rows struct {
	src   *bufio.Reader
	write func(dst, line []byte) ([]byte, error)
	part  []byte // of a line that is longer than the buffer
}

// next appends the translation of the next line.
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
			return dst, err // the line is incomplete
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
