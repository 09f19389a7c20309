package journal

import "sluice/internal/record"

// shortened returns a copy of a whose bodies are shorter by at least excess bytes. The
// longer body gives first, so that a small request stays whole beside a huge
// answer.
// Inlined it would have the stack of every call grow for the copy, which few need.
//
//go:noinline
func shortened(a *record.Attempt, excess int) (*record.Attempt, error) {
	s := new(record.Attempt)
	*s = *a
	return s, cut(s, excess)
}

// cut takes excess bytes, or a few more, off the bodies of a.
func cut(a *record.Attempt, excess int) error {
	long, short := &a.Request, &a.Response
	if len(long.Bytes) < len(short.Bytes) {
		long, short = short, long
	}
	if excess > len(long.Bytes)+len(short.Bytes) {
		return ErrTooLarge
	}
	first := min(excess, len(long.Bytes)-len(short.Bytes))
	rest := excess - first
	shorten(long, first+rest-rest/2)
	shorten(short, rest/2)
	return nil
}

func shorten(b *record.Body, by int) {
	if by > 0 {
		b.Bytes, b.Truncated = b.Bytes[:len(b.Bytes)-by], true
	}
}
