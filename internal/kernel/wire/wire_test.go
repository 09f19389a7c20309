package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"sluice/internal/kernel/wire"
)

func TestHeader(t *testing.T) {
	t.Parallel()
	var h wire.Header
	h.Add("A", "1")
	h.Add("b", "2")
	h.Add("a", "3")
	if got := h.Values("a"); len(got) != 2 || got[1] != "3" {
		t.Fatalf("Values: %v", got)
	}
	h.Set("a", "4")
	if len(h) != 2 || h.Get("a") != "4" || h.Get("B") != "" {
		t.Fatalf("Set: %v", h)
	}
	h.Del("A")
	if len(h) != 1 || h.Has("a") {
		t.Fatalf("Del: %v", h)
	}
}

func TestNamesAndValues(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{"plain": true, "tab\there": true, "a\r\nb: c": false, "nul\x00": false, "del\x7f": false, "ümlaut": true} {
		if wire.ValidValue(v) != want {
			t.Errorf("ValidValue(%q) = %v", v, !want)
		}
	}
	for n, want := range map[string]bool{"x-a": true, "": false, "a b": false, "a:b": false, "ä": false} {
		if wire.ValidName(n) != want {
			t.Errorf("ValidName(%q) = %v", n, !want)
		}
	}
}

// Whatever the sizes of the reads, a spool gives back the bytes it took, in
// memory and in its file alike, as a slice and as a payload sent twice.
func TestSpoolRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{0, 1, 100, 1<<10 - 1, 1 << 10, 3 << 10, 4 << 10, 16 << 10, 64 << 10, 64<<10 + 1, 2<<20 - 1, 2 << 20, 2<<20 + 1, 3 << 20}).Draw(t, "size")
		hint := rapid.SampledFrom([]int64{-1, int64(size)}).Draw(t, "hint")
		want := bytes.Repeat([]byte("0123456789abcdef!"), size/17+1)[:size]
		s := wire.NewSpool(dir)
		defer s.Close()
		if rapid.Bool().Draw(t, "written") {
			for rest := want; len(rest) > 0; {
				n, err := s.Write(rest[:min(len(rest), 700)])
				if err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
		} else if err := s.Fill(iotest.HalfReader(bytes.NewReader(want)), hint, 10<<20); err != nil {
			t.Fatal(err)
		}
		got, err := s.Bytes()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("Bytes: %d of %d, %v", len(got), len(want), err)
		}
		for range 2 {
			var b bytes.Buffer
			if n, err := s.Payload().WriteTo(&b); err != nil || n != int64(size) || !bytes.Equal(b.Bytes(), want) {
				t.Fatalf("WriteTo: %d, %v", n, err)
			}
		}
		if size > 10 {
			p := wire.Join(s.Slice(0, 5), wire.Bytes([]byte("<>")), s.Slice(7, int64(size)-7))
			all, _ := io.ReadAll(p.Open())
			if p.Len() != int64(size) || string(all[:7]) != string(want[:5])+"<>" || !bytes.Equal(all[7:], want[7:]) {
				t.Fatal("Join of slices")
			}
		}
	})
}

// Bodies that are large share a bounded memory: those that find none left need their
// folder, the others do not. The test is alone, because all of a process share.
func TestLargeSpoolsAreBounded(t *testing.T) {
	missing := t.TempDir() + "/missing"
	body := strings.Repeat("x", 100<<10)
	var held []*wire.Spool
	for {
		s := wire.NewSpool(missing)
		if err := s.Fill(strings.NewReader(body), int64(len(body)), 1<<20); err != nil {
			s.Close()
			break
		}
		if held = append(held, s); len(held) > 1000 {
			t.Fatal("1,000 large bodies were taken into memory")
		}
	}
	if len(held) < 8 {
		t.Errorf("only %d large bodies found room", len(held))
	}
	for _, s := range held {
		s.Close()
	}
	s := wire.NewSpool(missing)
	defer s.Close()
	if _, err := s.Write([]byte(body)); err != nil {
		t.Errorf("room was not given back: %v", err)
	}
}

func TestSpoolLimit(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 3 << 20} {
		s := wire.NewSpool(t.TempDir())
		defer s.Close()
		if err := s.Fill(strings.NewReader(strings.Repeat("x", size+1)), -1, int64(size)); !errors.Is(err, wire.ErrTooLarge) {
			t.Errorf("limit %d: %v", size, err)
		}
	}
	s := wire.NewSpool(t.TempDir())
	defer s.Close()
	if err := s.Fill(strings.NewReader("x"), 11, 10); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("announced length over the limit: %v", err)
	}
}
