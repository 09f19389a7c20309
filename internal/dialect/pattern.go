package dialect

import (
	"bytes"
	"slices"
)

const (
	maxPatternBytes = 2 << 10 // largest event that becomes a pattern
	patternTries    = 16      // events to learn from: a stream without a pattern must not pay for more
)

// pattern is the common part of stream events that contain only a text delta. Such events
// differ in a few values. An event that matches the pattern needs no further parsing, and
// most events match. The zero pattern matches nothing.
type pattern struct {
	last  []byte // the last event that was learned
	fixed []part // fixed parts of last; a value is between each two
	cut   span   // span to remove from such events, within one of the parts
	tries int
}

// part is a section that all events of a pattern share.
type part struct {
	span
	number bool // the value before it is a number, not a string
}

// span is a section of an event, [from:to].
type span struct{ from, to int }

// fits returns the length of the event at the start of b if it matches the pattern, and the
// span to remove from it. It returns 0 if the event does not match or is incomplete.
func (p *pattern) fits(b []byte) (n int, cut span) {
	pos := 0
	for i, part := range p.fixed {
		if i > 0 {
			n := valueLen(b[pos:], part.number)
			if n < 0 {
				return 0, span{}
			}
			pos += n
		}
		if !bytes.HasPrefix(b[pos:], p.last[part.from:part.to]) {
			return 0, span{}
		}
		if part.holds(p.cut) {
			cut = span{pos + p.cut.from - part.from, pos + p.cut.to - part.from}
		}
		pos += part.to - part.from
	}
	return pos, cut
}

func (s span) holds(other span) bool { return s.from <= other.from && other.to <= s.to }

// textLen is the length of the string at the start of b, up to its closing quote. It is -1 if
// the quote is missing, is possibly escaped by a backslash, or is after a line end.
func textLen(b []byte) int {
	n := bytes.IndexByte(b, '"')
	if n < 0 || n > 0 && b[n-1] == '\\' || bytes.IndexByte(b[:n], '\n') >= 0 || bytes.IndexByte(b[:n], '\r') >= 0 {
		return -1
	}
	return n
}

// numberLen is the length of the number at the start of b, or -1 if there is none. It does
// not check whether the number is valid.
func numberLen(b []byte) int {
	for i, c := range b {
		if !numeric(c) {
			if i == 0 {
				return -1
			}
			return i
		}
	}
	return -1 // the number may continue
}

func numeric(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// learn adds an event that contains only a text delta, and the bytes that were relayed for
// it. If it differs from the last event only in strings and numbers, both form a pattern.
func (p *pattern) learn(ev, relayed []byte) {
	cut, ok := removed(ev, relayed)
	if !ok || p.tries == patternTries || len(ev) > maxPatternBytes || ev[len(ev)-1] != '\n' {
		return
	}
	p.tries++
	p.compare(ev)
	p.last, p.cut = append(p.last[:0], ev...), cut
	if !slices.ContainsFunc(p.fixed, func(p part) bool { return p.holds(cut) }) {
		p.fixed = p.fixed[:0]
	}
}

// removed finds the one span that was removed from an event. Ok is false if the event
// changed in any other way.
func removed(ev, relayed []byte) (cut span, ok bool) {
	n := len(ev) - len(relayed)
	if n < 0 {
		return span{}, false
	}
	pos := 0
	for pos < len(relayed) && ev[pos] == relayed[pos] {
		pos++
	}
	return span{pos, pos + n}, bytes.Equal(ev[pos+n:], relayed[pos:])
}

// compare finds the parts in which ev equals the last event. It finds none if the events
// differ in anything except member values, or in a type, which determines the meaning of an
// event.
func (p *pattern) compare(ev []byte) {
	p.fixed = p.fixed[:0]
	next := part{}
	text, escaped := 0, false // text is the start of the current string, 0 outside of strings
	i, j := 0, 0              // in the last event and in this one
	for i < len(p.last) && j < len(ev) {
		switch c := ev[j]; {
		case p.last[i] != c:
			next.to = text
			if text == 0 {
				next.to = numberStart(ev[:j])
			}
			i, j = i-(j-next.to), next.to
			m, n := valueLen(p.last[i:], text == 0), valueLen(ev[j:], text == 0)
			if escaped || m < 0 || n < 0 || !ofMember(ev[:j]) {
				p.fixed = p.fixed[:0]
				return
			}
			p.fixed = append(p.fixed, next)
			i, j = i+m, j+n
			next = part{span{j, 0}, text == 0}
			continue
		case escaped:
			escaped = false
		case c == '\\':
			escaped = text > 0
		case c == '"' && text > 0:
			text = 0
		case c == '"':
			text = j + 1
		}
		i, j = i+1, j+1
	}
	if i < len(p.last) || j < len(ev) {
		p.fixed = p.fixed[:0]
		return
	}
	next.to = j
	p.fixed = append(p.fixed, next)
}

// numberStart is the start of the number at the end of b.
func numberStart(b []byte) int {
	for len(b) > 0 && numeric(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return len(b)
}

func valueLen(b []byte, number bool) int {
	if number {
		return numberLen(b)
	}
	return textLen(b)
}

// ofMember reports whether the value that begins after b, or after its last quote, belongs
// to a member that is not named type.
func ofMember(b []byte) bool {
	b = bytes.TrimRight(bytes.TrimSuffix(b, []byte(`"`)), " ")
	name, ok := bytes.CutSuffix(b, []byte(":"))
	return ok && !bytes.HasSuffix(bytes.TrimRight(name, " "), []byte(`"type"`))
}
