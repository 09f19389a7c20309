package jsonedit

import (
	"bytes"
	"strconv"

	"sluice/internal/kernel/fault"
)

// Doc is the index of one JSON object: the positions of its top-level members. The zero Doc is
// an empty index, ready for Scan. It may be reused for several texts and pooled. It belongs to
// one goroutine.
type Doc struct {
	src     []byte
	items   []item
	entries []entry // scratch of Apply
	// overflow is the offset of the first number beyond float64, plus 1; 0 for none
	overflow int
}

// Scan checks that b is one JSON object (RFC 8259, strings in UTF-8, at most MaxDepth
// levels and MaxMembers members) and indexes its members in d. The Doc points into b.
//
// All other input is fault.InvalidRequest with the byte offset and the reason. The same applies
// to a duplicate of a routing key, a member that decides about access or cost (see
// routingKeys), for example {"model":"a","mod\u0065l":"b"}. Param is then its name. Readers
// differ in which duplicate they use, so a caller could pass a check with one and use the
// other. Spellings that differ only in case count as the same name, because some readers ignore
// case.
func Scan(b []byte, d *Doc) error {
	d.src, d.items, d.overflow = b, d.items[:0], 0
	s := scanner{b: b}
	i := s.space(0)
	if s.byteAt(i) != '{' {
		return noObject(b, i)
	}
	if d.items, i = s.items(i, 0, d.items); i >= 0 {
		if i = s.space(i); i < len(b) {
			s.fail(i, "unexpected data after the object")
		}
	}
	if s.reason != "" {
		d.items = d.items[:0]
		return fault.Newf(fault.InvalidRequest, "the body is not valid JSON: %s at byte %d", s.reason, s.off)
	}
	d.overflow = s.overflow
	return d.rejectDuplicateKeys()
}

// noObject returns an error that describes the byte at i, where an object should begin.
func noObject(b []byte, i int) error {
	switch {
	case i >= len(b):
		return fault.New(fault.InvalidRequest, "the body is empty; send a JSON object")
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return fault.New(fault.InvalidRequest, "the body must be a JSON object: it begins with a byte order mark; send it without one")
	}
	return fault.Newf(fault.InvalidRequest, "the body must be a JSON object: unexpected data at byte %d", i)
}

func (d *Doc) rejectDuplicateKeys() error {
	var seen uint64 // one bit for each of routingKeys
	for k := range d.items {
		it := &d.items[k]
		g := RoutingKeyIndex(d.src[it.key+1 : it.keyEnd-1])
		if g < 0 {
			continue
		}
		if seen&(1<<g) != 0 {
			d.items = d.items[:0]
			return fault.Newf(fault.InvalidRequest, "duplicate field %s at byte %d", spelled(routingKeys[g]), it.key).WithParam(spelled(routingKeys[g]))
		}
		seen |= 1 << g
		if field := repeatedField(routingKeys[g], d.src[it.val:it.end]); field != "" {
			d.items = d.items[:0]
			path := spelled(routingKeys[g]) + "." + field
			return fault.Newf(fault.InvalidRequest, "duplicate field %s; send it once", path).WithParam(path)
		}
	}
	return nil
}

// Source returns the scanned text.
func (d *Doc) Source() []byte { return d.src }

// Indexes reports whether d is the index of b itself, not only of equal bytes.
func (d *Doc) Indexes(b []byte) bool {
	return len(d.items) > 0 && len(b) == len(d.src) && &b[0] == &d.src[0]
}

// find returns the last member with that name, as most readers do.
func (d *Doc) find(key string) *item {
	for k := len(d.items) - 1; k >= 0; k-- {
		if d.items[k].named(d.src, key) {
			return &d.items[k]
		}
	}
	return nil
}

// Raw returns the raw value of a top-level member, for example `"gpt-4o"` with the quotes. It
// points into the scanned text.
func (d *Doc) Raw(key string) ([]byte, bool) {
	if it := d.find(key); it != nil {
		return d.src[it.val:it.end], true
	}
	return nil, false
}

// Len returns the number of top-level members.
func (d *Doc) Len() int { return len(d.items) }

// Member returns the raw name, with its quotes, and the raw value of the k-th
// top-level member, counted from 0 in the order of the text.
func (d *Doc) Member(k int) (name, val []byte) {
	it := &d.items[k]
	return d.src[it.key:it.keyEnd], d.src[it.val:it.end]
}

// Has reports whether a member with that name exists, even with the value null.
func (d *Doc) Has(key string) bool { return d.find(key) != nil }

// String returns a member that is a string, decoded.
func (d *Doc) String(key string) (string, bool) {
	raw, _ := d.Raw(key)
	return Unquote(raw)
}

// Bool returns a member that is true or false.
func (d *Doc) Bool(key string) (value, ok bool) {
	raw, _ := d.Raw(key)
	switch string(raw) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// Int returns a member that is an integer, for example 512. 512.0 is not an integer here.
func (d *Doc) Int(key string) (int64, bool) {
	raw, ok := d.Raw(key)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// Scalar returns a member that is a string, number, boolean or null, decoded as
// encoding/json does into an any: string, float64, bool or nil. It reports false for
// lists and objects, and for a number beyond float64.
func (d *Doc) Scalar(key string) (value any, ok bool) {
	raw, ok := d.Raw(key)
	if !ok {
		return nil, false
	}
	switch raw[0] {
	case '"':
		return Unquote(raw)
	case 't', 'f':
		return raw[0] == 't', true
	case 'n':
		return nil, true
	case '{', '[':
		return nil, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil
}
