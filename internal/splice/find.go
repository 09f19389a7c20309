package splice

import (
	"bytes"
	"iter"
)

// Find returns the raw value at a chain of member names below the object b, for
// example Find(b, "usage", "total_tokens"). B need not have been scanned: what is no
// JSON on the way there yields nothing, what lies behind is not looked at. Of twins
// the first counts. It does not allocate.
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

// Members walks the members of the object b: their names with quotes and their raw
// values. It ends at the first byte that is no JSON; b need not have been scanned.
func Members(b []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, val []byte) bool) { eachMember(b, '{', yield) }
}

// Elements walks the raw elements of the array b as Members does.
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

// IsName reports whether a raw name of Members is key.
func IsName(raw []byte, key string) bool {
	if len(raw) == len(key)+2 && string(raw[1:len(raw)-1]) == key {
		return true
	}
	it := item{keyEnd: len(raw), escaped: hasByte(raw, '\\')}
	return it.escaped && it.named(raw, key)
}

// Valid reports whether b is one JSON object as Scan wants it; of an object that
// repeats a guarded name it is still true.
func Valid(b []byte) bool {
	s := scanner{b: b}
	i := s.space(0)
	if s.byteAt(i) != '{' {
		return false
	}
	i = s.value(i, 0)
	return i >= 0 && s.space(i) == len(b)
}

// Readable reports whether b is Valid and has no number beyond float64, so that every reader of
// JSON takes it.
func Readable(b []byte) bool {
	_, overflows := FindOverflow(b)
	return Valid(b) && !overflows
}

// Text is the text of the string that Find finds, "" when there is none.
func Text(b []byte, keys ...string) string {
	raw, _ := Find(b, keys...)
	s, _ := Unquote(raw)
	return s
}

// ContainsText reports whether a word stands anywhere in a raw value or name, in whatever
// way its letters are spelled: "se\u0061rch" mentions search.
func ContainsText(raw []byte, text string) bool {
	if bytes.Contains(raw, []byte(text)) {
		return true
	}
	return bytes.Contains(raw, []byte(`\u`)) && bytes.Contains(AppendUnquoted(nil, raw), []byte(text))
}

// IsNull reports whether a raw value says nothing: it is null, or not there.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
