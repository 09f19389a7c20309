package dialect_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/dialect"
	"sluice/internal/fault"
)

// However a file is cut on its way, its rows are those of the whole.
func TestRowsAreThoseOfTheWholeFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[ a-z]{0,9}\r?`)).Draw(t, "lines")
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
		r := dialect.Rows{Write: func(dst, line []byte) ([]byte, error) { return fmt.Appendf(dst, "<%s>", line), nil }}
		var got []byte
		var err error
		for len(file) > 0 && err == nil {
			n := rapid.IntRange(1, len(file)).Draw(t, "read")
			got, err = r.Append(got, file[:n])
			file = file[n:]
		}
		if got, err = r.Close(got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	})
}

func TestRowsEnd(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	r := dialect.Rows{Write: func(dst, line []byte) ([]byte, error) { return append(dst, line...), bad }}
	if got, err := r.Append(nil, []byte("a\nb\n")); string(got) != "a" || !errors.Is(err, bad) {
		t.Errorf("%q, %v", got, err)
	}
	r = dialect.Rows{}
	long := bytes.Repeat([]byte("x"), 1<<20)
	var err error
	for n := 0; n <= dialect.LineMax && err == nil; n += len(long) {
		_, err = r.Append(nil, long)
	}
	if !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("a line without end: %v", err)
	}
}
