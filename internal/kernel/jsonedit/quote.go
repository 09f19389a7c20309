package jsonedit

import (
	"bytes"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote decodes a JSON string with its quotes. It reports false when raw is not a string. A
// lone surrogate escape becomes U+FFFD, as in encoding/json.
func Unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	if !hasByte(raw, '\\') {
		return string(raw[1 : len(raw)-1]), true
	}
	var buf [128]byte // most escaped texts are short: arguments, lines
	return string(AppendUnquoted(buf[:0], raw)), true
}

// AppendUnquoted appends the decoded value of a valid JSON string with its quotes.
func AppendUnquoted(dst, raw []byte) []byte {
	for i, end := 1, len(raw)-1; i < end; {
		run := bytes.IndexByte(raw[i:end], '\\')
		if run < 0 || i+run+1 >= end {
			return append(dst, raw[i:end]...)
		}
		dst = append(dst, raw[i:i+run]...)
		i += run
		switch c := raw[i+1]; c {
		case 'u':
			r, n := rune4(raw[i:end])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		default:
			dst = append(dst, c)
		}
		i += 2
	}
	return dst
}

// rune4 decodes the \u escape at the beginning of b, or the pair of them, and returns the
// number of bytes that it read.
func rune4(b []byte) (rune, int) {
	r := hex4(b)
	if r < 0 {
		return utf8.RuneError, min(6, len(b))
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 {
		if full := utf16.DecodeRune(r, hex4(b[6:])); full != utf8.RuneError {
			return full, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 returns the number of the \uXXXX at the beginning of b, or -1 without one.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Quote returns s as a JSON string with its quotes.
func Quote(s string) []byte { return AppendQuoted(make([]byte, 0, len(s)+2), s) }

// AppendQuoted appends s as a JSON string with its quotes. It escapes only what JSON requires.
// Bytes that are not UTF-8 become U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := plain(s); i < len(s); i += plain(s[i:]) {
		c, width := s[i], 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, width = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || width > 1 {
				i += width
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		if c >= utf8.RuneSelf {
			dst = append(dst, "\uFFFD"...)
		} else {
			dst = appendEscaped(dst, c)
		}
		i += width
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// plain returns the number of leading bytes of s that a JSON string can contain unchanged. It
// checks eight bytes at a time as long as they are ASCII.
func plain(s string) (n int) {
	for ; n+8 <= len(s); n += 8 {
		w := uint64(s[n]) | uint64(s[n+1])<<8 | uint64(s[n+2])<<16 | uint64(s[n+3])<<24 |
			uint64(s[n+4])<<32 | uint64(s[n+5])<<40 | uint64(s[n+6])<<48 | uint64(s[n+7])<<56
		if m := special(w) | w&highs; m != 0 {
			return n + bits.TrailingZeros64(m)>>3
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
