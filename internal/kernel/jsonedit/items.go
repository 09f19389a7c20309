package jsonedit

import "bytes"

// item is the position of one member of an object, or one element of an array. For an element,
// key and keyEnd equal val.
type item struct {
	key, keyEnd int  // the name with its quotes
	val, end    int  // the value without the white space around it
	escaped     bool // the name contains a backslash
}

// items reads the container whose opening bracket is at i and appends one item for each of its
// members to dst.
func (s *scanner) items(i, depth int, dst []item) ([]item, int) {
	open := s.byteAt(i)
	if i = s.space(i + 1); s.byteAt(i) == open+2 {
		return dst, i + 1
	}
	for {
		var it item
		if it, i = s.item(i, depth+1, open == '{'); i < 0 {
			return dst, -1
		}
		if depth == 0 && open == '{' && len(dst) == MaxMembers {
			return dst, s.fail(it.key, "more than 16384 members")
		}
		dst = append(dst, it)
		switch i = s.space(i); s.byteAt(i) {
		case ',':
			i = s.space(i + 1)
		case open + 2:
			return dst, i + 1
		default:
			return dst, s.fail(i, "expected ',' or closing bracket")
		}
	}
}

// item reads the member or element that begins at i.
func (s *scanner) item(i, depth int, named bool) (item, int) {
	it := item{key: i, keyEnd: i}
	if named {
		if it.keyEnd, i = s.name(i); i < 0 {
			return it, -1
		}
		it.escaped = s.escaped
	}
	it.val = i
	it.end = s.value(i, depth)
	return it, it.end
}

// name reads the member name whose quote is at i, and its colon. It returns the end of the name
// and the beginning of the value. It sets s.escaped when the name contains an escape.
func (s *scanner) name(i int) (end, value int) {
	if s.byteAt(i) != '"' {
		return -1, s.fail(i, "expected a member name in double quotes")
	}
	s.escaped = false
	if end = s.str(i); end < 0 {
		return -1, -1
	}
	if i = s.space(end); s.byteAt(i) != ':' {
		return -1, s.fail(i, "expected ':'")
	}
	return end, s.space(i + 1)
}

// hasByte reports whether b contains c. It is faster than bytes.IndexByte on names, which are
// short.
func hasByte(b []byte, c byte) bool {
	if len(b) > 32 {
		return bytes.IndexByte(b, c) >= 0
	}
	for _, x := range b {
		if x == c {
			return true
		}
	}
	return false
}

// named reports whether the name of the item in text b is key.
func (it *item) named(b []byte, key string) bool {
	raw := b[it.key+1 : it.keyEnd-1]
	if !it.escaped {
		return string(raw) == key
	}
	if len(raw) > 6*len(key) { // no byte needs more than the six bytes of \u0041
		return false
	}
	var buf [64]byte
	return string(AppendUnquoted(buf[:0], b[it.key:it.keyEnd])) == key
}

// container reports whether raw begins with bracket.
func container(raw []byte, bracket byte) bool { return len(raw) > 0 && raw[0] == bracket }
