package jsonedit

import (
	"bytes"
	"iter"
)

// Reader reads a JSON text from front to back, each byte once. Members and Elements of this
// package return parts that the caller must parse again. The loops of a Reader nest instead:
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
// Values that the body of a loop does not read are skipped. Leaving a loop early or invalid
// JSON ends the reading: no values follow. A Reader belongs to one goroutine.
type Reader struct {
	s   scanner
	pos int // start of the next value, or of the bytes after the last
}

// NewReader returns a reader of b, which does not have to be scanned. The results of the reader
// point into b.
func NewReader(b []byte) Reader {
	s := scanner{b: b}
	s.b = b[s.space(0):]
	return Reader{s: s}
}

// Kind returns the first byte of the next value: '{', '[', '"', 't', 'f', 'n', '-' or a digit.
// It is 0 when no value follows.
func (r *Reader) Kind() byte { return r.s.byteAt(r.pos) }

// Raw reads the next value. It returns nil without one.
func (r *Reader) Raw() []byte {
	from := r.pos
	if r.seek(r.s.value(from, 0)) {
		return r.s.b[from:r.pos]
	}
	return nil
}

// Same reads the next value if it has the same bytes as the list or object as, which was read
// from a similar text before. It reports whether it read the value. It needs one comparison,
// whatever the size.
func (r *Reader) Same(as []byte) bool {
	if len(as) == 0 || !bytes.HasPrefix(r.s.b[r.pos:], as) {
		return false
	}
	return r.seek(r.pos + len(as))
}

// Null reads the next value if it is null, and reports whether it was.
func (r *Reader) Null() bool { return r.Kind() == 'n' && r.seek(r.s.literal(r.pos, "null")) }

// Mark returns the offset of the next value, for Since.
func (r *Reader) Mark() int { return r.pos }

// Since returns the bytes read since a mark. They are the raw value at the mark after it was
// read completely.
func (r *Reader) Since(mark int) []byte { return r.s.b[mark:r.pos] }

// IsComplete reports whether the text was one value that was read to its end.
func (r *Reader) IsComplete() bool {
	return r.s.reason == "" && r.pos > 0 && r.s.space(r.pos) == len(r.s.b)
}

// Members iterates over the decoded member names of the next object. A value that is not an
// object has no members.
func (r *Reader) Members() iter.Seq[[]byte] {
	return func(yield func(name []byte) bool) { r.members(yield) }
}

// Elements iterates over the elements of the next list and counts them from 0. A value that is
// not a list has no elements.
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

// open enters a container and reports whether it is not empty.
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

// next moves to the next member or element, or leaves the container after the last one.
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

// skip reads the value at an offset unless it was already read.
func (r *Reader) skip(value int) {
	if r.pos == value {
		r.seek(r.s.value(value, 0))
	}
}

// seek continues at end, or stops the reading after invalid JSON.
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
