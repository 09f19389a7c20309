package splice

import (
	"bytes"
	"iter"
)

// Reader reads a JSON text from front to back, each byte once. Where Members and Elements
// of this package cut a text into pieces that are cut again, its loops nest:
//
//	for name := range r.Members() {
//		switch string(name) {
//		case "id":
//			id, _ = Unquote(r.Raw())
//		case "messages":
//			for i := range r.Elements() {
//				…
//			}
//		}
//	}
//
// What the body of a loop does not read is passed over. A loop that is left early ends
// the reading, as does what is no JSON: nothing follows then. It belongs to one goroutine.
type Reader struct {
	s   scanner
	pos int // where the next value begins, or what follows the last
}

// NewReader returns a reader of b, which need not have been scanned. What it gives points
// into b.
func NewReader(b []byte) Reader {
	s := scanner{b: b}
	s.b = b[s.space(0):]
	return Reader{s: s}
}

// Kind is the first byte of the value to come: '{', '[', '"', 't', 'f', 'n', '-' or a
// digit; 0 when nothing follows.
func (r *Reader) Kind() byte { return r.s.byteAt(r.pos) }

// Raw reads the value to come; nil when there is none.
func (r *Reader) Raw() []byte {
	from := r.pos
	if r.seek(r.s.value(from, 0)) {
		return r.s.b[from:r.pos]
	}
	return nil
}

// Same reads the value to come if it is written as that list or object, which was read
// from a like text before, and reports whether it was: a comparison, however much is in it.
func (r *Reader) Same(as []byte) bool {
	if len(as) == 0 || !bytes.HasPrefix(r.s.b[r.pos:], as) {
		return false
	}
	return r.seek(r.pos + len(as))
}

// Null reads the value to come if it is null, and reports whether it was.
func (r *Reader) Null() bool { return r.Kind() == 'n' && r.seek(r.s.literal(r.pos, "null")) }

// Mark is the place of the value to come, for Since.
func (r *Reader) Mark() int { return r.pos }

// Since returns what was read since a mark: the raw value that came then, once it was
// read to its end.
func (r *Reader) Since(mark int) []byte { return r.s.b[mark:r.pos] }

// IsComplete reports whether the text was one value, which was read to its end.
func (r *Reader) IsComplete() bool {
	return r.s.reason == "" && r.pos > 0 && r.s.space(r.pos) == len(r.s.b)
}

// Members goes through the members of the object to come and gives their names, decoded;
// what is no object has none.
func (r *Reader) Members() iter.Seq[[]byte] {
	return func(yield func(name []byte) bool) { r.members(yield) }
}

// Elements goes through the elements of the list to come and counts them from 0; what is
// no list has none.
func (r *Reader) Elements() iter.Seq[int] {
	return func(yield func(k int) bool) { r.elements(yield) }
}

func (r *Reader) members(yield func(name []byte) bool) {
	for more := r.open('{'); more; more = r.next('}') {
		name, ok := r.name()
		if !ok {
			return
		}
		value := r.pos
		if !yield(name) {
			r.stop()
			return
		}
		r.skip(value)
	}
}

func (r *Reader) elements(yield func(k int) bool) {
	k := 0
	for more := r.open('['); more; more = r.next(']') {
		value := r.pos
		if !yield(k) {
			r.stop()
			return
		}
		r.skip(value)
		k++
	}
}

// open goes into a container and reports whether something is in it.
func (r *Reader) open(bracket byte) bool {
	if r.Kind() != bracket {
		return false
	}
	r.pos = r.s.space(r.pos + 1)
	if r.Kind() != bracket+2 {
		return true
	}
	r.pos++
	return false
}

// next goes on to the next member or element, or out of the container when it was the last.
func (r *Reader) next(closing byte) bool {
	r.pos = r.s.space(r.pos)
	switch r.Kind() {
	case ',':
		r.pos = r.s.space(r.pos + 1)
		return true
	case closing:
		r.pos++
	default:
		r.seek(r.s.fail(r.pos, "expected ',' or closing bracket"))
	}
	return false
}

// name reads the name of a member and its colon.
func (r *Reader) name() ([]byte, bool) {
	from := r.pos
	end, value := r.s.name(from)
	if !r.seek(value) {
		return nil, false
	}
	if r.s.escaped {
		return AppendUnquoted(nil, r.s.b[from:end]), true
	}
	return r.s.b[from+1 : end-1], true
}

// skip reads the value that begins there unless that was done.
func (r *Reader) skip(value int) {
	if r.pos == value {
		r.seek(r.s.value(value, 0))
	}
}

// seek goes on behind what was read, or ends the reading when that was no JSON.
func (r *Reader) seek(end int) bool {
	if end < 0 {
		r.pos = len(r.s.b)
		return false
	}
	r.pos = end
	return true
}

// stop ends the reading.
func (r *Reader) stop() { r.seek(r.s.fail(r.pos, "the reader was stopped")) }
