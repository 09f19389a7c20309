package splice

// item is where one member of an object, or one element of an array, lies in a text.
// Of an element key and keyEnd equal val.
type item struct {
	key, keyEnd int  // the name with its quotes
	val, end    int  // the value without the white space around it
	escaped     bool // the name holds a backslash
}

// items reads the container whose opening bracket is at i and appends one item for
// each of its members to dst.
func (s *scanner) items(i, depth int, dst []item) ([]item, int) {
	open := s.at(i)
	if i = s.space(i + 1); s.at(i) == open+2 {
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
		switch i = s.space(i); s.at(i) {
		case ',':
			i = s.space(i + 1)
		case open + 2:
			return dst, i + 1
		default:
			return dst, s.fail(i, "a comma or a closing bracket is missing")
		}
	}
}

// item reads one member or element that begins at i.
func (s *scanner) item(i, depth int, named bool) (item, int) {
	it := item{key: i, keyEnd: i}
	if named {
		if s.at(i) != '"' {
			return it, s.fail(i, "a member name in double quotes is missing")
		}
		s.escaped = false
		if i = s.str(i); i < 0 {
			return it, -1
		}
		it.keyEnd, it.escaped = i, s.escaped
		if i = s.space(i); s.at(i) != ':' {
			return it, s.fail(i, "a colon is missing")
		}
		i = s.space(i + 1)
	}
	it.val = i
	it.end = s.value(i, depth)
	return it, it.end
}

// hasByte beats bytes.IndexByte on names, which are short.
func hasByte(b []byte, c byte) bool {
	for _, x := range b {
		if x == c {
			return true
		}
	}
	return false
}

// named reports whether the name of it in text b is key.
func (it *item) named(b []byte, key string) bool {
	raw := b[it.key+1 : it.keyEnd-1]
	if !it.escaped {
		return string(raw) == key
	}
	name, ok := Unquote(b[it.key:it.keyEnd])
	return ok && name == key
}

// container reports whether raw begins an object or an array.
func container(raw []byte, bracket byte) bool { return len(raw) > 0 && raw[0] == bracket }

// reindex indexes the container raw, which is known to be valid JSON without white
// space around it.
func reindex(raw []byte, dst []item) []item {
	s := scanner{b: raw}
	dst, _ = s.items(0, 1, dst)
	return dst
}
