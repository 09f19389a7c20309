package jsonedit

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting depth of objects and arrays. The outermost object is
// level 1.
const MaxDepth = 64

// MaxMembers is the maximum number of members of the outermost object. Without it, the
// index of a body with very short members would be many times as large as the body.
const MaxMembers = 16384

// scanner checks JSON text against RFC 8259. Its methods take an index into b and return
// the index after what they read. On a fault they record offset and reason and return -1.
type scanner struct {
	b       []byte
	off     int
	reason  string
	escaped bool // a string that was read since the last clearing contains a backslash
	// overflow is 1 plus the offset of the first number beyond float64; 0 for none.
	overflow int
}

func (s *scanner) fail(off int, reason string) int {
	s.off, s.reason = off, reason
	if off >= len(s.b) {
		s.off, s.reason = len(s.b), "unexpected end of JSON"
	}
	return -1
}

// byteAt returns the byte at i, or 0 after the end. A NUL is never valid where byteAt is
// used.
func (s *scanner) byteAt(i int) byte {
	if i < len(s.b) {
		return s.b[i]
	}
	return 0
}

func (s *scanner) space(i int) int {
	for i < len(s.b) {
		switch s.b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// value reads the value at i or after white space. depth is the number of containers around
// it. Its stack is one bit for each level, so that nesting does not cost memory.
func (s *scanner) value(i, depth int) int {
	var objects uint64 // the lowest bit is set when the innermost container is an object
	outer := depth
	for {
		i = s.space(i)
		switch c := s.byteAt(i); c {
		case '{', '[':
			if depth == MaxDepth {
				return s.fail(i, "nested deeper than 64 levels")
			}
			depth++
			objects <<= 1
			if i = s.space(i + 1); c == '{' {
				objects |= 1
			}
			if s.byteAt(i) == c+2 { // in ASCII both closing brackets are the opening ones plus 2
				break
			}
			if c == '{' {
				i = s.key(i)
			}
			if i < 0 {
				return -1
			}
			continue
		case '"':
			if i = s.str(i); i < 0 {
				return -1
			}
		default:
			if i = s.scalar(i); i < 0 {
				return -1
			}
		}
		for more := false; !more; {
			if depth == outer {
				return i
			}
			i = s.space(i)
			switch c := s.byteAt(i); {
			case c == ',':
				more = true
				if i++; objects&1 == 1 {
					i = s.key(s.space(i))
				}
				if i < 0 {
					return -1
				}
			case c == '}' && objects&1 == 1, c == ']' && objects&1 == 0:
				objects >>= 1
				depth--
				i++
			default:
				return s.fail(i, "expected ',' or closing bracket")
			}
		}
	}
}

// key reads the name of a member and the colon after it.
func (s *scanner) key(i int) int {
	if s.byteAt(i) != '"' {
		return s.fail(i, "expected a member name in double quotes")
	}
	if i = s.str(i); i < 0 {
		return -1
	}
	if i = s.space(i); s.byteAt(i) != ':' {
		return s.fail(i, "expected ':'")
	}
	return i + 1
}

// scalar reads a value that is neither a container nor a string.
func (s *scanner) scalar(i int) int {
	switch c := s.byteAt(i); c {
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.number(i)
	}
	return s.fail(i, "expected a value")
}

func (s *scanner) literal(i int, literal string) int {
	for k := 0; k < len(literal); k++ {
		if s.byteAt(i+k) != literal[k] {
			return s.fail(i+k, "unknown literal")
		}
	}
	return i + len(literal)
}

func (s *scanner) number(i int) int {
	start := i
	if s.byteAt(i) == '-' {
		i++
	}
	intStart := i
	if s.byteAt(i) == '0' {
		i++
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	long := i-intStart > maxIntegerDigits
	if s.byteAt(i) == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if c := s.byteAt(i); c == 'e' || c == 'E' {
		i++
		if c := s.byteAt(i); c == '+' || c == '-' {
			i++
		}
		exponent := i
		if i = s.digits(i); i < 0 {
			return -1
		}
		long = long || i-exponent > maxExponentDigits || i-start > maxIntegerDigits/2
	}
	if long {
		s.noteOverflow(start, i)
	}
	return i
}

func (s *scanner) digits(i int) int {
	start := i
	for c := s.byteAt(i); c >= '0' && c <= '9'; c = s.byteAt(i) {
		i++
	}
	if i == start {
		return s.fail(i, "expected a digit")
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special sets the high bit of each byte of w that a string cannot contain as it is: the
// quote, the backslash and control bytes. Only the lowest set bit is exact.
func special(w uint64) uint64 {
	q, e := w^(ones*'"'), w^(ones*'\\')
	return ((q-ones)&^q | (e-ones)&^e | (w-ones*' ')&^w) & highs
}

// longFrom is the number of 8-byte blocks without special bytes after which str treats a
// string as long.
const longFrom = 4

// long returns the number of bytes at the start of p that are ASCII and that a string can
// contain as they are. It counts in steps of 32 bytes.
func long(p []byte) (n int) {
	for len(p) >= 32 {
		odd := oddASCII(binary.LittleEndian.Uint64(p)) | oddASCII(binary.LittleEndian.Uint64(p[8:])) |
			oddASCII(binary.LittleEndian.Uint64(p[16:])) | oddASCII(binary.LittleEndian.Uint64(p[24:]))
		if odd&highs != 0 {
			return n
		}
		n, p = n+32, p[32:]
	}
	return n
}

// oddASCII is a cheaper special that is not exact: its high bits also mark bytes that are
// not ASCII, and perhaps bytes above a marked one.
func oddASCII(w uint64) uint64 {
	return w | (w ^ (ones * '"') - ones) | (w ^ (ones * '\\') - ones) | (w - ones*' ')
}

// str reads the string whose opening quote is at i, in steps of 8 bytes, or of 32 when it
// is long. It checks UTF-8 at the end, and only after a byte above ASCII.
func (s *scanner) str(i int) int {
	b, start := s.b, i+1
	var seen uint64
	for i++; ; {
		for blocks := 0; i+8 <= len(b); {
			w := binary.LittleEndian.Uint64(b[i:])
			seen |= w
			if m := special(w); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
			if blocks++; blocks == longFrom {
				i += long(b[i:])
			}
		}
		if i >= len(b) {
			return s.fail(i, "")
		}
		switch c := b[i]; {
		case c == '"':
			if seen&highs != 0 && !utf8.Valid(b[start:i]) {
				return s.fail(start, "invalid UTF-8 in a string")
			}
			return i + 1
		case c == '\\':
			s.escaped = true
			if i = s.escape(i + 1); i < 0 {
				return -1
			}
		case c < ' ':
			return s.fail(i, "control character in a string")
		default:
			seen |= uint64(c)
			i++
		}
	}
}

// escape reads the rest of an escape sequence. i is the index after the backslash.
func (s *scanner) escape(i int) int {
	switch s.byteAt(i) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for k := 1; k <= 4; k++ {
			c := s.byteAt(i + k)
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return s.fail(i+k, "a wrong \\u escape")
			}
		}
		return i + 5
	}
	return s.fail(i, "unknown escape sequence")
}
