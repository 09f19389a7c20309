package journal

import (
	"slices"

	"sluice/internal/record"
)

// shortened returns a copy of a whose bodies are as much shorter as has it take so many
// bytes. The longest give first, so that a small request stays whole beside a huge answer.
// That a body was cut may take a byte of its own.
// Inlined it would have the stack of every call grow for the copy, which few need.
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

// cut takes excess bytes, or a few more, off the bodies of a: what is longer than others is
// made as long as they are, as far as that is needed.
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
