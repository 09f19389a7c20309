package dialect_test

import (
	"bytes"
	"testing"

	"sluice/internal/dialect"
)

// The largest events may come a few bytes at a time. To copy what has come with each of
// them would take longer than tests may.
func TestLargeEventInSmallPieces(t *testing.T) {
	t.Parallel()
	const size = 15 << 20
	text := bytes.Repeat([]byte("x"), size)
	for name, c := range map[string]struct {
		sent []byte
		feed func(p []byte, got *int) error
	}{
		"events": {append(append([]byte(`data: "`), text...), "\"\n\n"...), func() func([]byte, *int) error {
			var r dialect.EventReader
			return func(p []byte, got *int) error {
				return r.Feed(p, func(_, data []byte) error { *got += len(data) - 2; return nil })
			}
		}()},
		"frames": {framed("event", "chunk", string(text)), func() func([]byte, *int) error {
			var r dialect.FrameReader
			return func(p []byte, got *int) error {
				return r.Feed(p, func(f *dialect.Frame) error { *got += len(f.Payload); return nil })
			}
		}()},
	} {
		got := 0
		for rest := c.sent; len(rest) > 0; {
			n := min(16, len(rest))
			if err := c.feed(rest[:n], &got); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			rest = rest[n:]
		}
		if got != size {
			t.Errorf("%s: %d bytes of %d", name, got, size)
		}
	}
}
