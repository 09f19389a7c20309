package splice

import (
	"bytes"
	"unicode/utf16"
)

// replacement is what stands for half of a surrogate pair.
const replacement = `\ufffd`

// AppendRepaired appends valid JSON text in which every escape that is half of a surrogate pair,
// as "\ud83d" alone, is "\ufffd": strict readers refuse the whole text for one half. All other
// bytes stay as they are.
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

// findLoneSurrogate returns where the first escape is that is half of a pair, and how many bytes it has;
// -1 when there is none.
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

// utf8Error is what rune4 makes of half of a pair.
const utf8Error = '\uFFFD'
