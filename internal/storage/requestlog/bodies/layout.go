package bodies

import (
	"encoding/binary"
	"fmt"
)

// appendSet appends a record to its block: the request, the response, and the rest after its
// length. The rest contains the lengths of the other parts of the Set up to the last one present,
// after their count, and then these parts. Most records have no rest; one byte states that.
//
//	request | response | uvarint n | uvarint count | count uvarints | parts
//
// n is the number of bytes that follow it. Blocks of the first format have no n.
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

// extent returns where a record ends in its block: Span reaches from Offset to the end of the
// rest.
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

// cut returns copies of a reference's bodies from the bytes of its block, so that a retained body
// does not hold the block in memory.
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
	_, size := binary.Uvarint(tail) // extent has read it
	return s, s.cutRest(tail[size:])
}

// cutRest reads the other parts from the rest.
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
	for range count { // a newer program may have written more
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

// part copies a body; nil for an empty one.
func part(b []byte) []byte { return append([]byte(nil), b...) }
