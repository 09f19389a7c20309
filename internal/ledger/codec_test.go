package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/ledger"
	"sluice/internal/llm"
)

var epoch = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// full is a line whose every field has a value of its own.
func full() *ledger.Line {
	return &ledger.Line{
		ID: "0191f3a0-0000-7000-8000-00000000000a", RequestID: "0191f3a0-0000-7000-8000-00000000000b", State: ledger.Settled, At: epoch,
		OrgID: "0191f3a0-0000-7000-8000-000000000001", WorkspaceID: "0191f3a0-0000-7000-8000-000000000002", KeyID: "0191f3a0-0000-7000-8000-000000000003",
		Provider: "openai", ProviderID: "openai-main", Model: "gpt-4o-mini", Endpoint: llm.ChatComplete, Amount: 4_200_000, Unpriced: true, CopyOf: 77,
		Charges: []ledger.Charge{
			{Carrier: "0191f3a0-0000-7000-8000-000000000003", Entry: "0191f3a0-0000-7000-8000-000000000004", Units: 4_200_000},
			{Carrier: "0191f3a0-0000-7000-8000-000000000005", Entry: "8c1f", ValueKey: "metadata.team:search", Units: 1, Cost: true},
		},
	}
}

// anyLine draws a line with arbitrary texts, bytes that are no UTF-8 among them.
func anyLine(t *rapid.T) *ledger.Line {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) }))
	word := func(name string) string { return text.Draw(t, name) }
	return &ledger.Line{
		ID: word("id"), RequestID: word("request"), State: ledger.State(rapid.Byte().Draw(t, "state")),
		At:    time.Unix(0, rapid.Int64Range(1, 1<<62).Draw(t, "at")).UTC(),
		OrgID: word("org"), WorkspaceID: word("workspace"), KeyID: word("key"), Provider: word("provider"), ProviderID: word("provider id"),
		Model: word("model"), Endpoint: llm.Endpoint(word("endpoint")), Amount: rapid.Int64().Draw(t, "amount"), Unpriced: rapid.Bool().Draw(t, "unpriced"), CopyOf: rapid.Uint64().Draw(t, "copy of"),
		Charges: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Charge {
			return ledger.Charge{Carrier: text.Draw(t, "carrier"), Entry: text.Draw(t, "entry"), ValueKey: text.Draw(t, "value key"), Units: rapid.Int64().Draw(t, "units"), Cost: rapid.Bool().Draw(t, "cost")}
		}), 0, 20).Draw(t, "charges"),
	}
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*ledger.Line{"full": full(), "empty": {}} {
		b := l.AppendTo(nil)
		if len(b) != l.EncodedSize() || !ledger.Stored(b) {
			t.Errorf("%s: %d bytes, EncodedSize says %d; a line: %v", name, len(b), l.EncodedSize(), ledger.Stored(b))
		}
		var got ledger.Line
		if err := got.Decode(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*l, got); diff != "" {
			t.Errorf("%s: stored and read back (-want +got):\n%s", name, diff)
		}
	}
}

// Readers decode one line after another into the same Line: what the one before left
// there must not show.
func TestAnyLineComesBackIntoAUsedLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var got ledger.Line
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			want := anyLine(t)
			b := want.AppendTo(nil)
			if len(b) != want.EncodedSize() {
				t.Fatalf("%d bytes, EncodedSize says %d", len(b), want.EncodedSize())
			}
			if err := got.Decode(b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("stored and read back (-want +got):\n%s", diff)
			}
		}
	})
}

// What is skimmed is what is read, as far as it goes.
func TestAnyLineIsSkimmed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var got ledger.Line
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			l := anyLine(t)
			want := ledger.Line{ID: l.ID, State: l.State, At: l.At, Amount: l.Amount, Unpriced: l.Unpriced, CopyOf: l.CopyOf, Charges: l.Charges}
			if l.State == ledger.Reserved {
				want.Charges = nil
			}
			if err := got.Skim(l.AppendTo(nil)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("stored and skimmed (-want +got):\n%s", diff)
			}
		}
	})
}

// A line cut anywhere is refused, and never taken for another.
func TestCutLineIsRefused(t *testing.T) {
	t.Parallel()
	whole := full().AppendTo(nil)
	older := len(whole) - 1 // older programs end before the bits of the charges
	for n := range older {
		if err := new(ledger.Line).Decode(whole[:n]); !errors.Is(err, ledger.ErrMalformed) {
			t.Errorf("the first %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// What an older program wrote does not say what charges count.
func TestLineWithoutTheBitsOfItsCharges(t *testing.T) {
	t.Parallel()
	want, whole := full(), full().AppendTo(nil)
	want.Charges[1].Cost = false
	var got ledger.Line
	if err := got.Decode(whole[:len(whole)-1]); err != nil || !cmp.Equal(*want, got) {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(*want, got))
	}
}

func TestLinesOfOtherVersions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stored string
		want         ledger.Line
		refused      bool
	}{
		{name: "older: one number, one text", stored: "L\x01\x02\x01\x03abc\x00", want: ledger.Line{ID: "abc", State: ledger.Settled}},
		{name: "newer: a number and a text more", stored: "L\x06\x02\x00\x00\x00\x00\x09\x0a\x03\x00\x00\x00\x00\x00\x00\x00\x00\x02abcxx\x00", want: ledger.Line{ID: "abc", State: ledger.Settled}},
		{name: "a log record", stored: "\x01\x00\x00\x00", refused: true},
		{name: "nothing", refused: true},
		{name: "more charges than bytes", stored: "L\x00\x00\xff\xff\xff\x0f", refused: true},
		{name: "text longer than the line", stored: "L\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", refused: true},
		{name: "lengths that overflow together", stored: "L\x00\x0b" + string(make([]byte, 9)) + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x02\x00", refused: true},
	} {
		var got ledger.Line
		if err := got.Decode([]byte(tt.stored)); (err != nil) != tt.refused {
			t.Errorf("%s: error %v, refused %v", tt.name, err, tt.refused)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" && !tt.refused {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(full().AppendTo(nil))
	f.Add(new(ledger.Line).AppendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l, again ledger.Line
		if l.Decode(b) != nil {
			return
		}
		if err := again.Decode(l.AppendTo(nil)); err != nil {
			t.Fatalf("a line that was read cannot be stored: %v", err)
		}
		if diff := cmp.Diff(l, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("stored and read back (-want +got):\n%s", diff)
		}
	})
}

func TestCodecAllocatesNothing(t *testing.T) {
	l := full()
	b := make([]byte, 0, l.EncodedSize())
	var got ledger.Line
	if n := testing.AllocsPerRun(100, func() {
		b = l.AppendTo(b[:0])
		if err := got.Decode(b); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestStatesAreWords(t *testing.T) {
	t.Parallel()
	all := []ledger.State{ledger.Reserved, ledger.Settled, ledger.Estimated, ledger.Released, ledger.Unknown, ledger.Corrected}
	b, err := json.Marshal(all)
	if want := `["reserved","settled","estimated","released","unknown","corrected"]`; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
	var back []ledger.State
	if err := json.Unmarshal(b, &back); err != nil || !cmp.Equal(back, all) {
		t.Errorf("%v, %v", back, err)
	}
	for _, s := range all {
		if s.Closes() != (s != ledger.Reserved && s != ledger.Corrected) {
			t.Errorf("%s closes: %v", s, s.Closes())
		}
	}
	for _, bad := range []string{`["spent"]`, `[""]`} {
		if err := json.Unmarshal([]byte(bad), &back); !errors.Is(err, ledger.ErrMalformed) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, none := range []ledger.State{0, 7, 255} {
		if _, err := none.MarshalText(); err == nil || none.Closes() || none.String() != "" {
			t.Errorf("state %d is taken for one", none)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	l := full()
	buf := make([]byte, 0, l.EncodedSize())
	b.ReportAllocs()
	for b.Loop() {
		if l.EncodedSize() > cap(buf) {
			b.Fatal("size changed")
		}
		buf = l.AppendTo(buf[:0])
	}
}

func BenchmarkDecode(b *testing.B) {
	stored := full().AppendTo(nil)
	var l ledger.Line
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Decode(stored); err != nil {
			b.Fatal(err)
		}
	}
}
