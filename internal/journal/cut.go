package journal

import "sluice/internal/record"

// cut returns a copy of a whose bodies are shorter by at least excess bytes. The
// longer body gives first, so that a small request stays whole beside a huge
// answer.
func cut(a record.Attempt, excess int) (record.Attempt, error) {
	long, short := &a.Request, &a.Response
	if len(long.Bytes) < len(short.Bytes) {
		long, short = short, long
	}
	if excess > len(long.Bytes)+len(short.Bytes) {
		return a, ErrTooLarge
	}
	first := min(excess, len(long.Bytes)-len(short.Bytes))
	rest := excess - first
	shorten(long, first+rest-rest/2)
	shorten(short, rest/2)
	return a, nil
}

func shorten(b *record.Body, by int) {
	if by > 0 {
		b.Bytes, b.Truncated = b.Bytes[:len(b.Bytes)-by], true
	}
}
