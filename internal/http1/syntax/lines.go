package syntax

import (
	"bytes"
	"errors"

	"sluice/internal/kernel/wire"
)

// HeadEnd is the end of every head.
var HeadEnd = []byte("\r\n\r\n")

// The errors of malformed header lines.
var (
	errBareLine  = errors.New("a header line ends without a carriage return")
	errName      = errors.New("a header name is not valid")
	errNameless  = errors.New("a header line has no name")
	errValue     = errors.New("a header value contains control bytes")
	ErrManyLines = errors.New("the header has too many lines") // more than the maxLines of Parse
)

// CheckLineEnds refuses the beginning of a head that cannot become valid, because a line that
// ends at b[from] or later ends with a bare line feed. The caller then does not need to wait
// for the rest.
func CheckLineEnds(b []byte, from int) error {
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return nil
		}
		if i += from; i == 0 || b[i-1] != '\r' {
			return errBareLine
		}
		from = i + 1
	}
}

// Lines parses header lines. Reusing it saves memory. The zero value is ready to use. It
// belongs to one goroutine.
type Lines struct{ marks []mark }

// usualLines is the capacity for lines that most heads need.
const usualLines = 32

// mark is the position of a line's name and value.
type mark struct{ name, nameEnd, value, valueEnd int }

// Len returns the number of lines that Parse read.
func (l *Lines) Len() int { return len(l.marks) }

// Parse parses the lines b[from:], each with its end, at most maxLines, and lower-cases their
// names in place. It refuses folded lines, blanks before the colon, bare line feeds and control
// bytes. Source: RFC 9112 section 5.
func (l *Lines) Parse(b []byte, from, maxLines int) error {
	if l.marks == nil {
		l.marks = make([]mark, 0, usualLines)
	}
	l.marks = l.marks[:0]
	for from < len(b) {
		to := from + bytes.IndexByte(b[from:], '\n') + 1
		if to == from {
			return errBareLine
		}
		m, err := parseLine(b, from, to)
		if err != nil {
			return err
		}
		if len(l.marks) == maxLines {
			return ErrManyLines
		}
		l.marks = append(l.marks, m)
		from = to
	}
	return nil
}

// AppendTo appends the lines to h. text is a copy of the input of Parse. The names and values
// are substrings of it.
func (l *Lines) AppendTo(h wire.Header, text string) wire.Header {
	for _, m := range l.marks {
		h = append(h, wire.Field{Name: text[m.name:m.nameEnd], Value: text[m.value:m.valueEnd]})
	}
	return h
}

// parseLine parses the line b[from:to] and lower-cases its name in place.
func parseLine(b []byte, from, to int) (mark, error) {
	end := to - len("\r\n")
	if end < from || b[end] != '\r' {
		return mark{}, errBareLine
	}
	colon := from
	for ; colon < end && b[colon] != ':'; colon++ {
		c := b[colon]
		if !tokens[c] {
			return mark{}, errName
		}
		if 'A' <= c && c <= 'Z' {
			b[colon] = c + 'a' - 'A'
		}
	}
	if colon == from || colon == end {
		return mark{}, errNameless
	}
	m := mark{name: from, nameEnd: colon, value: colon + 1, valueEnd: end}
	for m.value < end && blank(b[m.value]) {
		m.value++
	}
	for m.valueEnd > m.value && blank(b[m.valueEnd-1]) {
		m.valueEnd--
	}
	if !CleanValue(b[m.value:m.valueEnd]) {
		return mark{}, errValue
	}
	return m, nil
}
