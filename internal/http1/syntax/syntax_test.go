package syntax_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/wire"
)

// Looking at eight bytes at a time says the same as looking at each.
func TestCleanValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.SampledFrom([]byte("abc \t\x00\x1f\x20\x7e\x7f\x80\xff\n")), 0, 40).Draw(t, "value")
		if got, want := syntax.CleanValue(v), wire.ValidValue(string(v)); got != want {
			t.Fatalf("%q: %v, want %v", v, got, want)
		}
	})
	for c := range 256 {
		v := bytes.Repeat([]byte{byte(c)}, 9)
		if syntax.CleanValue(v) != wire.ValidValue(string(v)) {
			t.Errorf("byte %#x", c)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var l syntax.Lines
	text := []byte("first\r\nX-A: \t b c\t\r\nx-a:\r\nÜ")
	if err := l.Parse(text[:len(text)-2], len("first\r\n"), 2); err != nil {
		t.Fatal(err)
	}
	h := l.AppendTo(nil, string(text))
	if fmt.Sprint(h) != "[{x-a b c} {x-a }]" {
		t.Errorf("%q", h)
	}
	for _, bad := range []string{
		"a: b\n", "a: b", "\r\n", "a : b\r\n", " a: b\r\n", "a\r\n", ": b\r\n", "a: b\rc\r\n", "a: b\x00\r\n", "ä: b\r\n", "a: b\r\n c: d\r\n",
	} {
		if err := l.Parse([]byte(bad), 0, 9); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if err := l.Parse([]byte("a: b\r\na: b\r\n"), 0, 1); !errors.Is(err, syntax.ErrManyLines) {
		t.Errorf("two lines of one: %v", err)
	}
}

func TestCheckLineEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		from int
		good bool
	}{
		{"", 0, true}, {"a\r\nb\r\n", 0, true}, {"a\r\nb", 2, true}, {"a\r\nb", 3, true}, {"\n", 0, false}, {"a\n", 0, false}, {"a\n", 1, false},
		{"a\r\nb\nc", 3, false}, {"a\nb\r\n", 2, true},
	} {
		if err := syntax.CheckLineEnds([]byte(c.text), c.from); (err == nil) != c.good {
			t.Errorf("%q from %d: %v", c.text, c.from, err)
		}
	}
}

func TestFraming(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		head    string // "name=value" each
		length  int64
		chunked bool
		refused bool
	}{
		{"", -1, false, false},
		{"content-length=5", 5, false, false},
		{"content-length=005", 5, false, false},
		{"transfer-encoding=Chunked", -1, true, false},
		{"content-length=5 content-length=5", 0, false, true},
		{"content-length=5,5", 0, false, true},
		{"content-length=+5", 0, false, true},
		{"content-length=-5", 0, false, true},
		{"content-length=", 0, false, true},
		{"content-length=1234567890123456789", 0, false, true},
		{"content-length=5 transfer-encoding=chunked", 0, false, true},
		{"transfer-encoding=chunked transfer-encoding=chunked", 0, false, true},
		{"transfer-encoding=gzip,chunked", 0, false, true},
		{"transfer-encoding=", 0, false, true},
		{"transfer-encoding=chun\u212aed", 0, false, true},
	} {
		var h wire.Header
		for f := range strings.FieldsSeq(c.head) {
			name, value, _ := strings.Cut(f, "=")
			h.Add(name, value)
		}
		length, chunked, err := syntax.Framing(h)
		if (err != nil) != c.refused || err == nil && (length != c.length || chunked != c.chunked) {
			t.Errorf("%s: %d %v %v", c.head, length, chunked, err)
		}
	}
}

// Whatever the pieces in which chunks come, the data is what was sent, and the end is
// found at the same byte.
func TestChunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data")
		var sent bytes.Buffer
		for rest := want; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			fmt.Fprintf(&sent, "%x;a=b\r\n%s\r\n", n, rest[:n])
			rest = rest[n:]
		}
		sent.WriteString("0\r\nx-t: 1\r\n\r\nnext")
		var c syntax.Chunks
		var got []byte
		for src := sent.Bytes(); ; {
			part := src[:rapid.IntRange(1, len(src)).Draw(t, "piece")]
			dst := make([]byte, rapid.IntRange(1, 50).Draw(t, "room"))
			n, used, err := c.Decode(dst, part)
			got, src = append(got, dst[:n]...), src[used:]
			if err == io.EOF {
				if string(src) != "next" || !bytes.Equal(got, want) {
					t.Fatalf("%q, then %q", got, src)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	for _, bad := range []string{
		"\r\n", "g\r\n", "-1\r\n", "0x1\r\n", "1\nx", "1\r\nxy", "1\r\nx\n", "1 1\r\n", "1234567890abcdef\r\n", "0\r\nno colon\r\n\r\n", "0\r\n\n",
		"1;" + strings.Repeat("a", 5000), "0\r\n" + strings.Repeat("a: b\r\n", 4000), strings.Repeat("1;"+strings.Repeat("a", 90)+"\r\nx\r\n", 500),
	} {
		var c syntax.Chunks
		if _, _, err := c.Decode(make([]byte, 1<<20), []byte(bad)); !errors.Is(err, syntax.ErrChunk) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}
