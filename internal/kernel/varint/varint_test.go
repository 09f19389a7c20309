package varint_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/kernel/varint"
)

var errBroken = errors.New("broken")

// What is appended comes back, in the size that was announced, and a reader that knows
// fewer numbers than were written goes on behind them.
func TestNumbersComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		written := rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "numbers")
		b := []byte{byte(len(written))}
		size := 1
		for _, v := range written {
			b, size = varint.Append(b, v), size+varint.Size(v)
		}
		if len(b) != size {
			t.Fatalf("%d bytes instead of %d", len(b), size)
		}
		d := varint.Decoder{Rest: append(b, 'x'), Malformed: errBroken}
		known := make([]uint64, rapid.IntRange(0, 25).Draw(t, "known"))
		d.Numbers(known)
		for i, v := range known {
			if want := append(written, make([]uint64, 25)...)[i]; v != want {
				t.Errorf("number %d is %d instead of %d", i, v, want)
			}
		}
		if string(d.Rest) != "x" || d.Err != nil {
			t.Errorf("rest %q, %v", d.Rest, d.Err)
		}
	})
}

// Lists come back as they were appended, in the size that was announced.
func TestListsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Uint64(), 0, 40).Draw(t, "numbers")
		inputs := rapid.SliceOfN(rapid.String(), 0, 40).Draw(t, "texts")
		texts := make([]*string, len(inputs))
		for i := range inputs {
			texts[i] = &inputs[i]
		}
		b := varint.AppendTexts(varint.AppendLists(nil, numbers, texts), texts)
		if size := varint.ListsSize(numbers, texts); size != len(b) {
			t.Fatalf("%d bytes instead of %d", len(b), size)
		}
		d := varint.Decoder{Rest: b, Malformed: errBroken}
		got, lens := make([]uint64, len(numbers)), make([]uint64, len(inputs))
		d.Numbers(got)
		if extra := d.Lengths(lens); extra != 0 || !slices.Equal(got, numbers) {
			t.Errorf("%d and %d bytes more instead of %d", got, extra, numbers)
		}
		for i, n := range lens {
			if text := string(d.Bytes(n)); text != inputs[i] {
				t.Errorf("text %d is %q instead of %q", i, text, inputs[i])
			}
		}
		if len(d.Rest) > 0 || d.Err != nil {
			t.Errorf("rest %q, %v", d.Rest, d.Err)
		}
	})
}

// Whatever the bytes are, nothing is read beyond them, and the first fault is told.
func TestFaultsStick(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes")
		d := varint.Decoder{Rest: b, Malformed: errBroken}
		var lens [3]uint64
		if extra := d.Lengths(lens[:]); extra > 255*uint64(len(b)) {
			t.Errorf("%d bytes of texts that nobody knows in %d bytes", extra, len(b))
		}
		for _, n := range lens {
			if got := d.Bytes(n); d.Err == nil && uint64(len(got)) != n || len(got) > len(b) {
				t.Errorf("%d bytes of %d", len(got), n)
			}
		}
		if d.Err != nil && (!errors.Is(d.Err, errBroken) || d.Byte() != 0 || d.Uvarint() != 0 || d.Bytes(1) != nil) {
			t.Errorf("something is read behind %v", d.Err)
		}
	})
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for _, instant := range []time.Time{{}, time.Date(2026, 11, 22, 6, 30, 0, 123456789, time.UTC)} {
		if got := varint.Time(varint.Nanos(instant)); !got.Equal(instant) || got.IsZero() != instant.IsZero() {
			t.Errorf("%v became %v", instant, got)
		}
	}
}
