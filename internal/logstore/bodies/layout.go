package bodies

import (
	"encoding/binary"
	"fmt"
)

// A record lies in its block as its request, its response, and the rest behind the rest's
// length: the lengths of the other parts of its Set up to the last that is there, each
// behind their number, then these parts. Most records have no rest: a byte says so.
//
//	request | response | uvarint n | uvarint count | count uvarints | parts
//
// n counts what stands behind it. Blocks of before there was a rest have no n.
func appendSet(to []byte, s *Set) []byte {
	to = append(append(to, s[Request]...), s[Response]...)
	rest := s[Response+1:]
	for len(rest) > 0 && len(rest[len(rest)-1]) == 0 {
		rest = rest[:len(rest)-1]
	}
	if len(rest) == 0 {
		return append(to, 0)
	}
	lengths, size := binary.AppendUvarint(nil, uint64(len(rest))), 0
	for _, b := range rest {
		lengths = binary.AppendUvarint(lengths, uint64(len(b)))
		size += len(b)
	}
	to = append(binary.AppendUvarint(to, uint64(len(lengths)+size)), lengths...)
	for _, b := range rest {
		to = append(to, b...)
	}
	return to
}

var errShort = fmt.Errorf("%w: unexpected end of the block", ErrDamaged)

// extent is how far a record reaches in its block: from At to the end of its rest.
func (s Span) extent(raw []byte, rest bool) (end uint64, err error) {
	end = uint64(s.Offset) + uint64(s.Size)
	if end > uint64(len(raw)) {
		return 0, errShort
	}
	if !rest {
		return end, nil
	}
	n, size := binary.Uvarint(raw[end:])
	if size <= 0 || n > uint64(len(raw))-end-uint64(size) {
		return 0, errShort
	}
	return end + uint64(size) + n, nil
}

// cut takes the bodies of a reference out of the bytes of its block. They are copies, so
// that a kept body does not keep the block.
func (r *Ref) cut(raw []byte, rest bool) (s Set, err error) {
	if uint64(r.Request)+uint64(r.Response) > uint64(len(raw)) {
		return s, errShort
	}
	end, err := r.Span().extent(raw, rest)
	if err != nil {
		return s, err
	}
	start, middle := uint64(r.Offset), uint64(r.Offset)+uint64(r.Request)
	s[Request], s[Response] = part(raw[start:middle]), part(raw[middle:middle+uint64(r.Response)])
	if !rest {
		return s, nil
	}
	tail := raw[middle+uint64(r.Response) : end]
	_, size := binary.Uvarint(tail) // extent read it
	return s, s.cutRest(tail[size:])
}

// cutRest takes the other parts out of the rest.
func (s *Set) cutRest(rest []byte) error {
	if len(rest) == 0 {
		return nil
	}
	count, size := binary.Uvarint(rest)
	if size <= 0 {
		return errShort
	}
	var lengths []uint64
	rest = rest[size:]
	for range count { // a newer program may know more
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return errShort
		}
		lengths, rest = append(lengths, n), rest[size:]
	}
	for i, n := range lengths {
		if n > uint64(len(rest)) {
			return errShort
		}
		if index := Response + 1 + i; index < Parts {
			s[index] = part(rest[:n])
		}
		rest = rest[n:]
	}
	return nil
}

// part copies a body; nil for none.
func part(b []byte) []byte { return append([]byte(nil), b...) }
