package guardrails

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
)

// escapedText is JSON text with its escapes resolved, so that a check finds a word that a model wrote
// with escapes. offsets[i] is the place in the JSON text of byte i of plain; nil if they are equal.
type escapedText struct {
	plain   string
	offsets []int
	length  int
}

// unescape resolves the escapes in a part of a JSON text. An escape that is cut at the end stays as it
// is.
func unescape(raw string) escapedText {
	if strings.IndexByte(raw, '\\') < 0 {
		return escapedText{plain: raw, length: len(raw)}
	}
	t := escapedText{length: len(raw)}
	var b strings.Builder
	for i := 0; i < len(raw); {
		text, n := raw[i:i+1], 1
		if raw[i] == '\\' {
			text, n = escape(raw[i:])
		}
		b.WriteString(text)
		for range len(text) {
			t.offsets = append(t.offsets, i)
		}
		i += n
	}
	t.plain, t.offsets = b.String(), append(t.offsets, len(raw))
	return t
}

// escape resolves the escape at the beginning of s, and returns its length. It returns the backslash
// for a cut or malformed one.
func escape(s string) (text string, n int) {
	if len(s) < 2 {
		return s[:1], 1
	}
	switch s[1] {
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case 'r':
		return "\r", 2
	case 'b':
		return "\b", 2
	case 'f':
		return "\f", 2
	case 'u':
		return unicodeEscape(s)
	case '"', '\\', '/':
		return s[1:2], 2
	}
	return s[:1], 1
}

func unicodeEscape(s string) (text string, n int) {
	r, ok := hexRune(s)
	if !ok {
		return s[:1], 1
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hexRune(s[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return string(both), 12
			}
		}
		return string(utf8.RuneError), 6
	}
	return string(r), 6
}

// hexRune reads \uXXXX.
func hexRune(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(v), err == nil
}

// original returns the place in the JSON text of a part of the plain text.
func (t *escapedText) original(start, end int) (int, int) {
	if t.offsets == nil {
		return start, end
	}
	stop := t.offsets[end]
	if end > start && end < len(t.offsets)-1 && stop == t.offsets[end-1] { // inside an escape
		for end < len(t.offsets)-1 && t.offsets[end] == stop {
			end++
		}
		stop = t.offsets[end]
	}
	return t.offsets[start], stop
}

// escaped returns a text as it is written inside a JSON string.
func escaped(text string) string {
	q := jsonedit.Quote(text)
	return string(q[1 : len(q)-1])
}
