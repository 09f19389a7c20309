package uploads_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
)

// cut is a reader of a text that gives it in pieces of its own choice.
type cut struct {
	text     []byte
	readSize func(maxBytes int) int
}

func (c *cut) Read(p []byte) (int, error) {
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.text[:c.readSize(min(len(p), len(c.text)))])
	c.text = c.text[n:]
	return n, nil
}

// However a file is cut on its way, its rows are those of the whole.
func TestRowsAreThoseOfTheWholeFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[ a-z]{0,9}\r?`)).Draw(t, "lines")
		if rapid.Bool().Draw(t, "a long one") {
			lines = append(lines, strings.Repeat("x", 100_000), "y")
		}
		file := []byte(strings.Join(lines, "\n"))
		if len(file) > 0 && rapid.Bool().Draw(t, "ended") {
			file = append(file, '\n')
		}
		var want []byte
		for _, l := range lines {
			if l = strings.TrimSpace(l); l != "" {
				want = fmt.Appendf(want, "<%s>", l)
			}
		}
		chunkSize := rapid.IntRange(1, 50_000).Draw(t, "pieces")
		r := uploads.LineReader(&cut{file, func(maxBytes int) int { return min(maxBytes, chunkSize) }}, func(dst, line []byte) ([]byte, error) { return fmt.Appendf(dst, "<%s>", line), nil })
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	})
}

func TestRowsEnd(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	echo := func(dst, line []byte) ([]byte, error) { return append(dst, line...), nil }
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(bad))
	if got, err := io.ReadAll(uploads.LineReader(broken, echo)); string(got) != "a" || !errors.Is(err, bad) {
		t.Errorf("of a line that is cut: %q, %v", got, err)
	}
	refused := uploads.LineReader(strings.NewReader("a\nb\n"), func(dst, line []byte) ([]byte, error) { return append(dst, line...), bad })
	if got, err := io.ReadAll(refused); string(got) != "a" || !errors.Is(err, bad) {
		t.Errorf("%q, %v", got, err)
	}
	endless := &cut{bytes.Repeat([]byte("x"), uploads.MaxLineBytes+1), func(maxBytes int) int { return maxBytes }}
	if _, err := io.ReadAll(uploads.LineReader(endless, echo)); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("a line without end: %v", err)
	}
}
