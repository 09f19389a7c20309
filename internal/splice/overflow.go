package splice

import (
	"strconv"
	"strings"
)

// maxExponentDigits is how many digits the exponent of a number may have that is surely below
// 1.8e308, the largest number of IEEE 754: "99".
const maxExponentDigits = 2

// maxIntegerDigits is how many digits a number without an exponent may have that is surely below it.
const maxIntegerDigits = 308

// noteOverflow records where a number begins that is beyond the largest float64, the first of a
// text. From is its first byte, end follows its last one.
func (s *scanner) noteOverflow(from, end int) {
	if s.overflow == 0 && !isFinite(s.b[from:end]) {
		s.overflow = from + 1
	}
}

func isFinite(number []byte) bool {
	_, err := strconv.ParseFloat(string(number), 64)
	return err == nil
}

// Overflow returns the path of the first number beyond the largest float64, as 1e999 in
// {"tools":[{"parameters":{"maximum":1e999}}]}: "tools[0].parameters.maximum". JSON permits such
// numbers, and readers differ in what they make of them: many refuse the whole text.
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

// pathOf is the path of the value that begins at an offset of a text: "messages[2].content".
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
