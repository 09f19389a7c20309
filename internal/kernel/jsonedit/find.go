package jsonedit

import (
	"bytes"
	"iter"
)

// Find returns the raw value at a chain of member names in the object b, for example Find(b,
// "usage", "total_tokens"). b does not have to be scanned. Invalid JSON before the value yields
// nothing, and bytes after it are not checked. Of duplicates, the first counts. It does not
// allocate.
func Find(b []byte, keys ...string) ([]byte, bool) {
	for _, key := range keys {
		found := false
		for name, val := range Members(b) {
			if IsName(name, key) {
				b, found = val, true
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	return b, true
}

// Members iterates over the members of the object b: their names with quotes and their raw
// values. It ends at the first invalid byte. b does not have to be scanned.
func Members(b []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, val []byte) bool) { eachMember(b, '{', yield) }
}

// Elements iterates over the raw elements of the array b in the same way as Members.
func Elements(b []byte) iter.Seq[[]byte] {
	return func(yield func(val []byte) bool) {
		eachMember(b, '[', func(_, val []byte) bool { return yield(val) })
	}
}

func eachMember(b []byte, bracket byte, yield func(name, val []byte) bool) {
	s := scanner{b: b}
	i := s.space(0)
	if s.byteAt(i) != bracket {
		return
	}
	for i = s.space(i + 1); s.byteAt(i) != bracket+2; i = s.space(i + 1) {
		it, end := s.item(i, 1, bracket == '{')
		if end < 0 || !yield(b[it.key:it.keyEnd], b[it.val:it.end]) {
			return
		}
		if i = s.space(end); s.byteAt(i) != ',' {
			return
		}
	}
}

// IsName reports whether a raw name from Members equals key.
func IsName(raw []byte, key string) bool {
	if len(raw) == len(key)+2 && string(raw[1:len(raw)-1]) == key {
		return true
	}
	it := item{keyEnd: len(raw), escaped: hasByte(raw, '\\')}
	return it.escaped && it.named(raw, key)
}

// Valid reports whether b is one JSON object that Scan accepts. An object that repeats a
// routing key is valid too.
func Valid(b []byte) bool {
	s := scanner{b: b}
	i := s.space(0)
	if s.byteAt(i) != '{' {
		return false
	}
	i = s.value(i, 0)
	return i >= 0 && s.space(i) == len(b)
}

// Readable reports whether b is Valid and has no number beyond float64, so that every JSON
// reader accepts it.
func Readable(b []byte) bool {
	_, overflows := FindOverflow(b)
	return Valid(b) && !overflows
}

// Text returns the decoded string at the path of Find, or "" without one.
func Text(b []byte, keys ...string) string {
	raw, _ := Find(b, keys...)
	s, _ := Unquote(raw)
	return s
}

// ContainsText reports whether a raw value or name contains a text, in any spelling of its
// letters: "se\u0061rch" contains search.
func ContainsText(raw []byte, text string) bool {
	if bytes.Contains(raw, []byte(text)) {
		return true
	}
	return bytes.Contains(raw, []byte(`\u`)) && bytes.Contains(AppendUnquoted(nil, raw), []byte(text))
}

// IsNull reports whether a raw value is null or missing.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
