package guardedstream

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"sluice/internal/gateway/guardrails/textfold"
)

// step returns the index after the character of text at i. In escaped text, which is JSON, an escape
// is one character. A low surrogate is not counted, because it completes the character before it. Nor is
// an invisible sign: checks find words with any number of them inside.
func step(text []byte, i int, escaped bool) (next int, counted bool) {
	switch {
	case escaped && text[i] == '\\':
		return stepEscape(text, i)
	case text[i] < utf8.RuneSelf:
		return i + 1, true
	}
	r, n := utf8.DecodeRune(text[i:])
	return i + n, !textfold.IsInvisible(r)
}

func stepEscape(text []byte, i int) (next int, counted bool) {
	if i+1 >= len(text) {
		return len(text), true
	}
	if text[i+1] != 'u' {
		return i + 2, true
	}
	r, ok := unit(text[i:])
	isLow := r >= lowSurrogates && r <= maxSurrogate
	return min(i+6, len(text)), !ok || !isLow && !textfold.IsInvisible(r)
}

// The low surrogates; the high ones are before.
const (
	lowSurrogates = 0xDC00
	maxSurrogate  = 0xDFFF
)

// surrogate returns the surrogate whose escape is at the beginning of b.
func surrogate(b []byte) (rune, bool) {
	r, ok := unit(b)
	return r, ok && utf16.IsSurrogate(r)
}

// unit returns the UTF-16 unit whose escape, \uXXXX, is at the beginning of b.
func unit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n), err == nil
}

// countCharacters returns the number of characters in a part of a text.
func countCharacters(text []byte, from, to int, escaped bool) (n int) {
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
