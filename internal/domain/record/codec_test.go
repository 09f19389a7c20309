package record_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
)

func decode(t testing.TB, b []byte) *record.Attempt {
	t.Helper()
	a := &record.Attempt{Error: "left over", Metadata: map[string]string{"left": "over"}}
	if err := a.Decode(b); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]*record.Attempt{"full": recordtest.Full(), "chat": recordtest.Chat(7), "empty": {}} {
		b := a.AppendTo(nil)
		if len(b) != a.EncodedSize() {
			t.Errorf("%s: %d bytes, EncodedSize says %d", name, len(b), a.EncodedSize())
		}
		if diff := cmp.Diff(a, decode(t, b)); diff != "" {
			t.Errorf("%s: stored and read back (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnyAttemptComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := recordtest.Any(t)
		b := a.AppendTo(nil)
		if len(b) != a.EncodedSize() {
			t.Fatalf("%d bytes, EncodedSize says %d", len(b), a.EncodedSize())
		}
		var got record.Attempt
		if err := got.Decode(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, &got); diff != "" {
			t.Fatalf("stored and read back (-want +got):\n%s", diff)
		}
		if closing, err := record.ClosingOf(b); err != nil || !bytes.Equal(closing, a.Closing) {
			t.Fatalf("it closes %q, %v; want %q", closing, err, a.Closing)
		}
	})
}

// A record cut anywhere is refused, and never taken for another.
func TestCutRecordIsRefused(t *testing.T) {
	t.Parallel()
	encoded := recordtest.Full().AppendTo(nil)
	for n := range encoded {
		if err := new(record.Attempt).Decode(encoded[:n]); err == nil {
			t.Errorf("the first %d of %d bytes were taken for a record", n, len(encoded))
		}
		if closing, err := record.ClosingOf(encoded[:n]); err == nil {
			t.Errorf("the first %d of %d bytes close %q", n, len(encoded), closing)
		}
	}
}

// What an older or a newer program wrote is read as far as both know it.
func TestRecordsOfOtherVersions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, stored string
		want         record.Attempt
		refused      bool
	}{
		{name: "older: two numbers, one text", stored: "\x01" + "\x02\x00\x05" + "\x01\x03" + "\x00" + "abc", want: record.Attempt{ID: "abc", Duration: 5}},
		{
			name:   "older: no costs of searches",
			stored: "\x01" + "\x19" + zeros(23) + "\x02\x01" + "\x1e\x03" + zeros(29) + "\x00" + "abc" + "rrs",
			want:   record.Attempt{ID: "abc", Request: record.Body{Bytes: []byte("rr")}, Response: record.Body{Bytes: []byte("s")}},
		},
		{
			name:   "older: no spend",
			stored: "\x01" + "\x1c" + zeros(23) + "\x02\x01" + zeros(3) + "\x24\x03" + zeros(35) + "\x00" + "abc" + "rrs",
			want:   record.Attempt{ID: "abc", Request: record.Body{Bytes: []byte("rr")}, Response: record.Body{Bytes: []byte("s")}},
		},
		{
			name:   "older: no basis of the bill",
			stored: "\x01" + "\x20" + zeros(23) + "\x02\x01" + zeros(6) + "\x01" + "\x28\x03" + zeros(39) + "\x00" + "abc" + "rrsL",
			want:   record.Attempt{ID: "abc", Request: record.Body{Bytes: []byte("rr")}, Response: record.Body{Bytes: []byte("s")}, Closing: []byte("L")},
		},
		{
			name:   "older: no timings",
			stored: "\x01" + "\x24" + zeros(23) + "\x02\x01" + zeros(6) + "\x01" + zeros(4) + "\x29\x03" + zeros(40) + "\x00" + "abc" + "rrsL",
			want:   record.Attempt{ID: "abc", Request: record.Body{Bytes: []byte("rr")}, Response: record.Body{Bytes: []byte("s")}, Closing: []byte("L")},
		},
		{
			name:   "older: no request between the client's and the provider's",
			stored: "\x01" + "\x32" + zeros(23) + "\x02\x01" + zeros(6) + "\x01" + zeros(18) + "\x2e\x03" + zeros(45) + "\x00" + "abc" + "rrsL",
			want:   record.Attempt{ID: "abc", Request: record.Body{Bytes: []byte("rr")}, Response: record.Body{Bytes: []byte("s")}, Closing: []byte("L")},
		},
		{
			name:   "older: no library of the client",
			stored: "\x01" + "\x35" + zeros(23) + "\x02\x01" + zeros(6) + "\x01" + zeros(21) + "\x30\x03" + zeros(47) + "\x00" + "abc" + "rrsL",
			want:   record.Attempt{ID: "abc", Request: record.Body{Bytes: []byte("rr")}, Response: record.Body{Bytes: []byte("s")}, Closing: []byte("L")},
		},
		{
			name:   "newer: a number and two texts more",
			stored: "\x01" + "\x36" + zeros(23) + "\x02\x01" + zeros(6) + "\x01" + zeros(21) + "\x2a" + "\x38\x03" + zeros(53) + "\x02\x01" + "\x00" + "abc" + "new" + "rrsL",
			want:   record.Attempt{ID: "abc", Request: record.Body{Bytes: []byte("rr")}, Response: record.Body{Bytes: []byte("s")}, Closing: []byte("L")},
		},
		{name: "another frame", stored: "\x02\x00\x00\x00", refused: true},
		{name: "nothing", stored: "", refused: true},
		{name: "more metadata than bytes", stored: "\x01\x00\x00\xff\xff\xff\xff\x0f", refused: true},
		{name: "text longer than the record", stored: "\x01\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", refused: true},
		{name: "lengths that overflow together", stored: "\x01\x00\x35" + zeros(51) + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x02\x00", refused: true},
	}
	for _, tt := range tests {
		var got record.Attempt
		err := got.Decode([]byte(tt.stored))
		if (err != nil) != tt.refused {
			t.Errorf("%s: error %v, refused %v", tt.name, err, tt.refused)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" && !tt.refused {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if closing, err := record.ClosingOf([]byte(tt.stored)); (err != nil) != tt.refused || !tt.refused && !bytes.Equal(closing, tt.want.Closing) {
			t.Errorf("%s: it closes %q, %v", tt.name, closing, err)
		}
	}
}

func zeros(n int) string { return string(make([]byte, n)) }

func FuzzDecode(f *testing.F) {
	f.Add(recordtest.Full().AppendTo(nil))
	f.Add(recordtest.Chat(1).AppendTo(nil))
	f.Add(new(record.Attempt).AppendTo(nil))
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var a, again record.Attempt
		closing, err := record.ClosingOf(b)
		if a.Decode(b) != nil {
			return
		}
		if err != nil || !bytes.Equal(closing, a.Closing) {
			t.Fatalf("it closes %q, %v; want %q", closing, err, a.Closing)
		}
		stored := a.AppendTo(nil)
		if err := again.Decode(stored); err != nil {
			t.Fatalf("a record that was read cannot be stored: %v", err)
		}
		// Compared as bytes: a NaN is not equal to itself. Pairs have no order.
		if len(a.Metadata) < 2 && !bytes.Equal(stored, again.AppendTo(nil)) {
			t.Fatalf("%x stored and read back is %x", stored, again.AppendTo(nil))
		}
	})
}

func TestEncodingAllocatesNothing(t *testing.T) {
	a := recordtest.Chat(1)
	b := make([]byte, 0, a.EncodedSize())
	if n := testing.AllocsPerRun(100, func() { b = a.AppendTo(b[:0]) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestFindingTheClosingAllocatesNothing(t *testing.T) {
	stored := recordtest.Full().AppendTo(nil)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := record.ClosingOf(stored); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	a := recordtest.Chat(1)
	buf := make([]byte, 0, a.EncodedSize())
	b.ReportAllocs()
	for b.Loop() {
		if a.EncodedSize() > cap(buf) {
			b.Fatal("size changed")
		}
		buf = a.AppendTo(buf[:0])
	}
}

func BenchmarkClosingOf(b *testing.B) {
	stored := recordtest.Chat(1).AppendTo(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.ClosingOf(stored); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	stored := recordtest.Chat(1).AppendTo(nil)
	var a record.Attempt
	b.ReportAllocs()
	for b.Loop() {
		if err := a.Decode(stored); err != nil {
			b.Fatal(err)
		}
	}
}

// Readers decode one record after another into the same Attempt. What the one before
// left there must not show, whichever it was.
func TestDecodeIntoAUsedAttempt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var got record.Attempt
		for range rapid.IntRange(2, 4).Draw(t, "records") {
			want := recordtest.Any(t)
			if rapid.Bool().Draw(t, "like the one before") {
				id := want.ID
				*want = got
				want.ID = id
			}
			stored := want.AppendTo(nil)
			var alone record.Attempt
			if err := errors.Join(got.Decode(stored), alone.Decode(stored)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(alone, got); diff != "" {
				t.Fatalf("read into a used attempt (-want +got):\n%s", diff)
			}
		}
	})
}

// Records of one service differ in their ids: these cost one allocation, the rest none.
func TestDecodingLikeRecordsAllocatesOnce(t *testing.T) {
	one, other := recordtest.Chat(1).AppendTo(nil), recordtest.Chat(2).AppendTo(nil)
	var a record.Attempt
	if n := testing.AllocsPerRun(100, func() {
		one, other = other, one
		if err := a.Decode(one); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations, want one", n)
	}
}
