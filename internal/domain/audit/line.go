package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxLineBytes bounds a line of an export: the largest row a store keeps, with every
// byte of it escaped.
const maxLineBytes = 32 << 20

// The kinds of lines.
const (
	headerLine     = "header"
	rowLine        = "row"
	checkpointLine = "checkpoint"
)

// encodeLine writes a thing as a line of an export: a JSON object that begins with
// its type. The bytes are the same for the same values.
func encodeLine(kind string, v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"type":"` + kind + `",`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	start := b.Len()
	if err := enc.Encode(v); err != nil { // ends with a newline
		return nil, err
	}
	line := b.Bytes()
	return append(line[:start], line[start+1:]...), nil // without the second brace
}

// decodeLine reads what encodeLine writes, and nothing else: a line that would be
// written in another way (other blanks, other order, further or repeated fields)
// is refused, because readers could understand it differently.
func decodeLine(line []byte, kind string, into any) bool {
	d := json.NewDecoder(bytes.NewReader(line))
	if d.Decode(into) != nil {
		return false
	}
	again, err := encodeLine(kind, into)
	return err == nil && bytes.Equal(line, again)
}

// kindOf is the type of a line, "" when it has none.
func kindOf(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return ""
	}
	return string(rest[:end])
}

var (
	errCut  = errors.New("the last line is incomplete")
	errLong = errors.New("the line exceeds the maximum length of an export line")
)

// lines reads a stream line by line in constant memory.
type lines struct {
	reader *bufio.Reader
	buf    []byte
	number int
}

func newLines(input io.Reader) *lines { return &lines{reader: bufio.NewReaderSize(input, 64<<10)} }

// next returns a line with its newline, valid until the next call. io.EOF at the
// end; errCut when the last line has no newline.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.reader.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > maxLineBytes:
			l.number++
			return nil, errLong
		case err == nil:
			l.number++
			return l.buf, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			l.number++
			return nil, errCut
		default:
			return nil, err
		}
	}
}
