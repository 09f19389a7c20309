package journal

import (
	"slices"

	"sluice/internal/domain/record"
)

// shortened returns a copy of a with bodies cut so that it fits in maxBytes. The longest
// bodies are cut first, so that a small request stays complete next to a huge response.
// Marking a body as cut may take one more byte. If it were inlined, the stack of every call
// would grow for the copy, which few calls need.
//
//go:noinline
func shortened(a *record.Attempt, maxBytes int) (s *record.Attempt, err error) {
	s = new(record.Attempt)
	*s = *a
	for excess := s.EncodedSize() - maxBytes; excess > 0 && err == nil; excess = s.EncodedSize() - maxBytes {
		err = cut(s, excess)
	}
	return s, err
}

// cut removes excess bytes, or a few more, from the bodies of a. It cuts the longest bodies to
// a common length, as far as needed.
func cut(a *record.Attempt, excess int) error {
	bodies := a.Bodies()
	slices.SortFunc(bodies[:], func(a, b *record.Body) int { return len(a.Bytes) - len(b.Bytes) })
	available := -excess
	for _, b := range bodies {
		available += len(b.Bytes)
	}
	if available < 0 {
		return ErrTooLarge
	}
	for i, b := range bodies { // the shortest first
		length := min(len(b.Bytes), available/(len(bodies)-i))
		available -= length
		shorten(b, len(b.Bytes)-length)
	}
	return nil
}

// bare returns a copy of a without its bodies.
//
//go:noinline
func bare(a *record.Attempt) *record.Attempt {
	s := new(record.Attempt)
	*s = *a
	for _, b := range s.Bodies() {
		shorten(b, len(b.Bytes))
	}
	return s
}

func shorten(b *record.Body, by int) {
	if by > 0 {
		b.Bytes, b.Truncated = b.Bytes[:len(b.Bytes)-by], true
	}
}
