package jsonedit

import (
	"bytes"
	"unicode/utf16"
)

// replacement replaces a lone surrogate.
const replacement = `\ufffd`

// AppendRepaired appends valid JSON text with every lone surrogate escape, such as a single
// "\ud83d", replaced by "\ufffd". Strict readers refuse a complete text because of one. All
// other bytes are unchanged.
// Source: RFC 8259, section 8.2.
func AppendRepaired(dst, raw []byte) []byte {
	for {
		pos, length := findLoneSurrogate(raw)
		if pos < 0 {
			return append(dst, raw...)
		}
		dst = append(append(dst, raw[:pos]...), replacement...)
		raw = raw[pos+length:]
	}
}

// findLoneSurrogate returns the offset and length of the first lone surrogate escape, or -1
// without one.
func findLoneSurrogate(raw []byte) (pos, length int) {
	for i := 0; i < len(raw); {
		run := bytes.IndexByte(raw[i:], '\\')
		if run < 0 {
			return -1, 0
		}
		i += run
		if i+1 >= len(raw) || raw[i+1] != 'u' {
			i += 2
			continue
		}
		r, n := rune4(raw[i:])
		if r == utf8Error && utf16.IsSurrogate(hex4(raw[i:])) {
			return i, n
		}
		i += n
	}
	return -1, 0
}

// utf8Error is the result of rune4 for a lone surrogate.
const utf8Error = '\uFFFD'
