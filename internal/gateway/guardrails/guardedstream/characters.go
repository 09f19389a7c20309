package guardedstream

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// step returns the index after the character of text at i. In escaped text, which is JSON, an escape
// is one character. A low surrogate is not counted, because it completes the character before it.
func step(text []byte, i int, escaped bool) (next int, counted bool) {
	switch {
	case escaped && text[i] == '\\':
		return stepEscape(text, i)
	case text[i] < utf8.RuneSelf:
		return i + 1, true
	}
	_, n := utf8.DecodeRune(text[i:])
	return i + n, true
}

func stepEscape(text []byte, i int) (next int, counted bool) {
	if i+1 >= len(text) {
		return len(text), true
	}
	if text[i+1] != 'u' {
		return i + 2, true
	}
	r, ok := surrogate(text[i:])
	return min(i+6, len(text)), !ok || r < lowSurrogates
}

const lowSurrogates = 0xDC00 // to 0xDFFF; the high ones are before

// surrogate returns the surrogate whose escape is at the beginning of b.
func surrogate(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n), err == nil && utf16.IsSurrogate(rune(n))
}

// countCharacters returns the number of characters in a part of a text.
func countCharacters(text []byte, from, to int, escaped bool) (n int) {
	if !escaped {
		return utf8.RuneCount(text[from:to])
	}
	for i := from; i < to; {
		next, counted := step(text, i, escaped)
		if i = next; counted {
			n++
		}
	}
	return n
}

// skipCharacters returns the index after n characters from i on.
func skipCharacters(text []byte, i, n int, escaped bool) int {
	for i < len(text) && n > 0 {
		next, counted := step(text, i, escaped)
		if i = next; counted {
			n--
		}
	}
	return i
}
