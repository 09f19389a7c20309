package passage

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
)

// arguments reads the string values in arguments that are a JSON text in a JSON string. It reports
// false for arguments that are not JSON or only a number or literal: their string is the text.
func (w *walker) arguments(raw []byte, start int, a around) bool {
	decoded := jsonedit.AppendUnquoted(make([]byte, 0, len(raw)), raw)
	if !isJSONText(decoded) {
		return false
	}
	reader, lead := w.r, w.lead
	w.raw = &cursor{raw: raw, base: start, pos: 1}
	w.open(decoded)
	w.value(leaves, a)
	w.r, w.lead, w.raw = reader, lead, nil
	return true
}

// isJSONText reports whether b is a JSON object, list or string.
func isJSONText(b []byte) bool {
	r := jsonedit.NewReader(b)
	if k := r.Kind(); k != '{' && k != '[' && k != '"' {
		return false
	}
	return r.Raw() != nil && r.IsComplete()
}

// cursor converts offsets in a decoded JSON string to offsets in the body, front to back.
type cursor struct {
	raw     []byte // the string with its quotes
	base    int    // its offset in the body
	pos     int    // in raw
	decoded int    // length of the text before pos
}

// offset returns the offset in the body of a text offset at a character, at or after the last one.
func (c *cursor) offset(at int) int {
	for c.decoded < at && c.pos < len(c.raw) {
		if c.raw[c.pos] == '\\' {
			n, width := escapeLen(c.raw[c.pos:])
			c.pos += n
			c.decoded += width
			continue
		}
		run := bytes.IndexByte(c.raw[c.pos:], '\\')
		if run < 0 {
			run = len(c.raw) - c.pos
		}
		run = min(run, at-c.decoded)
		c.pos += run
		c.decoded += run
	}
	return c.base + c.pos
}

// escapeLen returns the length of the escape at the start of a valid raw string, and that of its
// text.
func escapeLen(raw []byte) (n, width int) {
	if raw[1] != 'u' {
		return 2, 1
	}
	r := hexRune(raw)
	if utf16.IsSurrogate(r) {
		if full := utf16.DecodeRune(r, hexRune(raw[6:])); full != utf8.RuneError {
			return 12, utf8.RuneLen(full)
		}
		r = utf8.RuneError
	}
	return 6, utf8.RuneLen(r)
}

// hexRune returns the number of the \uXXXX at the start of raw, or -1.
func hexRune(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}
