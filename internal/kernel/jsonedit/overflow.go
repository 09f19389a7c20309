package jsonedit

import (
	"strconv"
	"strings"
)

// maxExponentDigits is the maximum number of exponent digits of a number that is certainly
// below 1.8e308, the largest number of IEEE 754: "99".
const maxExponentDigits = 2

// maxIntegerDigits is the maximum number of digits of a number without an exponent that is
// certainly below it.
const maxIntegerDigits = 308

// noteOverflow records the offset of the first number of a text beyond the largest float64.
// from is its first byte, end follows its last one.
func (s *scanner) noteOverflow(from, end int) {
	if s.overflow == 0 && !isFinite(s.b[from:end]) {
		s.overflow = from + 1
	}
}

func isFinite(number []byte) bool {
	_, err := strconv.ParseFloat(string(number), 64)
	return err == nil
}

// Overflow returns the path of the first number beyond the largest float64:
// "tools[0].parameters.maximum" for 1e999 in {"tools":[{"parameters":{"maximum":1e999}}]}. JSON
// permits such numbers, but readers treat them differently: many refuse the complete text.
// Source: RFC 8259, section 6.
func (d *Doc) Overflow() (path string, found bool) {
	if d.overflow == 0 {
		return "", false
	}
	return pathOf(d.src, d.overflow-1), true
}

// FindOverflow is Overflow for one JSON value that was not scanned by Scan.
func FindOverflow(raw []byte) (path string, found bool) {
	s := scanner{b: raw}
	if s.value(s.space(0), 0); s.overflow == 0 {
		return "", false
	}
	return pathOf(raw, s.overflow-1), true
}

// pathOf returns the path of the value at an offset of a text: "messages[2].content".
func pathOf(b []byte, off int) string {
	var path strings.Builder
	base := (&scanner{b: b}).space(0)
	for container(b[base:], '{') || container(b[base:], '[') {
		text, inside := b[base:], -1
		eachItem(text, func(k int, it item) {
			if off < base+it.val || off >= base+it.end {
				return
			}
			inside = it.val
			if it.keyEnd == it.key {
				path.WriteString("[" + strconv.Itoa(k) + "]")
				return
			}
			if path.Len() > 0 {
				path.WriteByte('.')
			}
			name, _ := Unquote(text[it.key:it.keyEnd])
			path.WriteString(name)
		})
		if inside < 0 {
			break
		}
		base += inside
	}
	return path.String()
}
