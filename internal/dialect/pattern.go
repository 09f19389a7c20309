package dialect

import (
	"bytes"
	"slices"
)

const (
	maxPatternBytes = 2 << 10 // the longest event that becomes a pattern
	patternTries    = 16      // events that are learnt from: a stream without a pattern shall not pay for more
)

// pattern is what the events of a stream have in common that bring nothing but a piece of
// text: they differ in a few values. An event that looks like them needs no other
// look, and most do. Zero knows nothing.
type pattern struct {
	last  []byte // the event that was learnt from last
	fixed []part // of it; between two of them lies a value
	cut   span   // what is taken out of such events, within one of the parts
	tries int
}

// part is what all events of a pattern have.
type part struct {
	span
	number bool // what lies before it is a number, not a text
}

// span is a piece of an event, [from:to].
type span struct{ from, to int }

// fits returns how long the event is that b begins with when it looks like the pattern,
// and 0 when it does not or its end has not come; and what is to be taken out of it.
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

// textLen is how long the text is that b begins with, up to its quote. It is -1 when that
// is not there, or perhaps none because of a backslash, or when a line ends before it.
func textLen(b []byte) int {
	n := bytes.IndexByte(b, '"')
	if n < 0 || n > 0 && b[n-1] == '\\' || bytes.IndexByte(b[:n], '\n') >= 0 || bytes.IndexByte(b[:n], '\r') >= 0 {
		return -1
	}
	return n
}

// numberLen is how long the number is that b begins with, -1 when there is none. Whether
// it is a good one is not asked.
func numberLen(b []byte) int {
	for i, c := range b {
		if !numeric(c) {
			if i == 0 {
				return -1
			}
			return i
		}
	}
	return -1 // it may go on
}

func numeric(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// learn takes an event that brought nothing but a piece of text, and what was relayed of
// it. Where it differs from the last one in texts and numbers alone, both are of one pattern.
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

// removed finds what was taken out of an event in one piece; ok is false when more was
// done to it.
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

// compare finds the parts in which ev is the same as the last event. There are none when
// the two differ in anything but the values of members, or in a type, which decides what
// an event means.
func (p *pattern) compare(ev []byte) {
	p.fixed = p.fixed[:0]
	next := part{}
	text, escaped := 0, false // text is where the string at hand begins, 0 outside of one
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

// numberStart is where the number begins at whose end or in which b ends.
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

// ofMember reports whether the value that begins behind b, or behind its last quote, is
// that of a member which is not called type.
func ofMember(b []byte) bool {
	b = bytes.TrimRight(bytes.TrimSuffix(b, []byte(`"`)), " ")
	name, ok := bytes.CutSuffix(b, []byte(":"))
	return ok && !bytes.HasSuffix(bytes.TrimRight(name, " "), []byte(`"type"`))
}
