package ledger_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/ledger"
)

var epoch = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// full is a line whose every field has a value of its own.
func full() *ledger.Entry {
	return &ledger.Entry{
		ID: "0191f3a0-0000-7000-8000-00000000000a", RequestID: "0191f3a0-0000-7000-8000-00000000000b", State: ledger.Settled, RecordedAt: epoch,
		OrgID: "0191f3a0-0000-7000-8000-000000000001", WorkspaceID: "0191f3a0-0000-7000-8000-000000000002", KeyID: "0191f3a0-0000-7000-8000-000000000003",
		Provider: "openai", ProviderID: "openai-main", Model: "gpt-4o-mini", Endpoint: llm.ChatComplete, Amount: 4_200_000, Unpriced: true, CopyOf: 77, ReplayOf: "0191f3a0-0000-7000-8000-00000000000c", TraceID: "trace-1",
		Charges: []ledger.Charge{
			{Subject: "0191f3a0-0000-7000-8000-000000000003", Entry: "0191f3a0-0000-7000-8000-000000000004", Units: 4_200_000},
			{Subject: "0191f3a0-0000-7000-8000-000000000005", Entry: "8c1f", ValueKey: "metadata.team:search", Units: 1, Cost: true},
		},
	}
}

// anySet draws a set with amounts: ids, words and texts that come twice.
func anySet(t *rapid.T) *ledger.Set {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "team:search", full().KeyID, full().OrgID, strings.ToUpper("0191f3a0-0000-7000-8000-00000000000a")}), rapid.String())
	return ledger.NewSet(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Counter {
		return ledger.Counter{Subject: text.Draw(t, "carrier"), Entry: text.Draw(t, "entry"), ValueKey: text.Draw(t, "value key"), Counts: ledger.Counts(rapid.IntRange(0, 2).Draw(t, "counts"))}
	}), 0, 20).Draw(t, "counters"))
}

// anyLine draws a line with arbitrary texts, bytes that are no UTF-8 among them.
func anyLine(t *rapid.T) *ledger.Entry {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) }))
	drawText := func(name string) string { return text.Draw(t, name) }
	l := &ledger.Entry{
		ID: drawText("id"), RequestID: drawText("request"), State: ledger.State(rapid.Byte().Draw(t, "state")),
		RecordedAt: time.Unix(0, rapid.Int64Range(1, 1<<62).Draw(t, "at")).UTC(),
		OrgID:      drawText("org"), WorkspaceID: drawText("workspace"), KeyID: drawText("key"), Provider: drawText("provider"), ProviderID: drawText("provider id"),
		Model: drawText("model"), Endpoint: llm.Endpoint(drawText("endpoint")), Amount: rapid.Int64().Draw(t, "amount"), Unpriced: rapid.Bool().Draw(t, "unpriced"), CopyOf: rapid.Uint64().Draw(t, "copy of"), ReplayOf: drawText("replay of"), TraceID: drawText("trace"),
		Charges: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Charge {
			return ledger.Charge{Subject: text.Draw(t, "carrier"), Entry: text.Draw(t, "entry"), ValueKey: text.Draw(t, "value key"), Units: rapid.Int64().Draw(t, "units"), Cost: rapid.Bool().Draw(t, "cost")}
		}), 0, 20).Draw(t, "charges"),
	}
	if rapid.Bool().Draw(t, "has a set") {
		l.Charges, l.Set = nil, anySet(t)
		for i := range l.Amounts {
			l.Amounts[i] = rapid.Int64().Draw(t, "amount of the set")
		}
	}
	return l
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*ledger.Entry{"full": full(), "empty": {}} {
		b := l.AppendTo(nil)
		if len(b) != l.EncodedSize() || !ledger.Stored(b) {
			t.Errorf("%s: %d bytes, EncodedSize says %d; a line: %v", name, len(b), l.EncodedSize(), ledger.Stored(b))
		}
		var got ledger.Entry
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
		var got ledger.Entry
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
		var got ledger.Entry
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			l := anyLine(t)
			want := ledger.Entry{ID: l.ID, State: l.State, RecordedAt: l.RecordedAt, Amount: l.Amount, Unpriced: l.Unpriced, CopyOf: l.CopyOf, Charges: l.Charges, Set: l.Set, Amounts: l.Amounts}
			if l.State == ledger.Reserved {
				want.Charges, want.Set, want.Amounts = nil, nil, ledger.Amounts{}
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
	encoded := full().AppendTo(nil)
	older := len(encoded) - 1 // older programs end before the bits of the charges
	for n := range older {
		if err := new(ledger.Entry).Decode(encoded[:n]); !errors.Is(err, ledger.ErrMalformed) {
			t.Errorf("the first %d of %d bytes: %v", n, len(encoded), err)
		}
	}
}

// So is one that has a set.
func TestCutLineWithASetIsRefused(t *testing.T) {
	t.Parallel()
	l := full()
	l.Set, l.Charges, l.Amounts = aSet(), nil, ledger.Amounts{1, 300, 7}
	encoded := l.AppendTo(nil)
	for n := range encoded {
		if err := new(ledger.Entry).Decode(encoded[:n]); !errors.Is(err, ledger.ErrMalformed) {
			t.Errorf("the first %d of %d bytes: %v", n, len(encoded), err)
		}
	}
}

// aSet are three counters, of a budget and a policy with two value keys.
func aSet() *ledger.Set {
	return ledger.NewSet([]ledger.Counter{
		{Subject: full().KeyID, Entry: full().OrgID, Counts: ledger.Tokens},
		{Subject: full().OrgID, ValueKey: "metadata.team:search"},
		{Subject: full().ID, ValueKey: "metadata.team:search", Counts: ledger.Calls},
	})
}

// A line with a set comes to the charges that it would have without.
func TestSetsAreCharges(t *testing.T) {
	t.Parallel()
	l := ledger.Entry{Set: aSet(), Amounts: ledger.Amounts{ledger.Nanos: 5, ledger.Tokens: 40, ledger.Calls: 1}}
	want := []ledger.Charge{
		{Subject: full().KeyID, Entry: full().OrgID, Units: 40},
		{Subject: full().OrgID, ValueKey: "metadata.team:search", Units: 5, Cost: true},
		{Subject: full().ID, ValueKey: "metadata.team:search", Units: 1},
	}
	if diff := cmp.Diff(want, l.AllCharges()); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
	if got := l.CostCounters(); got != ledger.CostCounters(want) {
		t.Errorf("counters of cost %q, want %q", got, ledger.CostCounters(want))
	}
}

// Lines of one set that are read with the same Sets have the same *Set, and lines of
// others have not.
func TestSetsAreReadOnce(t *testing.T) {
	t.Parallel()
	known := new(ledger.CounterSetCache)
	read := func(s *ledger.Set) *ledger.Set {
		l := ledger.Entry{Known: known}
		if err := l.Decode((&ledger.Entry{Set: s}).AppendTo(nil)); err != nil || !l.Set.Equal(s) {
			t.Fatalf("%v, %v", l.Set, err)
		}
		return l.Set
	}
	first, other := read(aSet()), read(ledger.NewSet([]ledger.Counter{{Subject: "k"}}))
	if read(aSet()) != first || first == other || first.Equal(other) {
		t.Error("sets are confused")
	}
}

// What an older program wrote does not say what charges count.
func TestLineWithoutTheBitsOfItsCharges(t *testing.T) {
	t.Parallel()
	want, encoded := full(), full().AppendTo(nil)
	want.Charges[1].Cost = false
	var got ledger.Entry
	if err := got.Decode(encoded[:len(encoded)-1]); err != nil || !cmp.Equal(*want, got) {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(*want, got))
	}
}

func TestLinesOfOtherVersions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stored string
		want         ledger.Entry
		refused      bool
	}{
		{name: "older: one number, one text", stored: "L\x01\x02\x01\x03abc\x00", want: ledger.Entry{ID: "abc", State: ledger.Settled}},
		{name: "newer: a number and a text more", stored: "L\x06\x02\x00\x00\x00\x00\x09\x0c\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02abcxx\x00", want: ledger.Entry{ID: "abc", State: ledger.Settled}},
		{name: "older: without what it is a replay of", stored: "L\x01\x02\x09\x03\x00\x00\x00\x00\x00\x00\x00\x00abc\x00", want: ledger.Entry{ID: "abc", State: ledger.Settled}},
		{name: "a log record", stored: "\x01\x00\x00\x00", refused: true},
		{name: "nothing", refused: true},
		{name: "more charges than bytes", stored: "L\x00\x00\xff\xff\xff\x0f", refused: true},
		{name: "text longer than the line", stored: "L\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", refused: true},
		{name: "lengths that overflow together", stored: "L\x00\x0d" + string(make([]byte, 11)) + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x02\x00", refused: true},
	} {
		var got ledger.Entry
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
	f.Add(new(ledger.Entry).AppendTo(nil))
	f.Add((&ledger.Entry{Set: aSet(), Amounts: ledger.Amounts{1, 300, 7}}).AppendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l, again ledger.Entry
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
	var got ledger.Entry
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
	var decoded []ledger.State
	if err := json.Unmarshal(b, &decoded); err != nil || !cmp.Equal(decoded, all) {
		t.Errorf("%v, %v", decoded, err)
	}
	for _, s := range all {
		if s.Closes() != (s != ledger.Reserved && s != ledger.Corrected) {
			t.Errorf("%s closes: %v", s, s.Closes())
		}
	}
	for _, bad := range []string{`["spent"]`, `[""]`} {
		if err := json.Unmarshal([]byte(bad), &decoded); !errors.Is(err, ledger.ErrMalformed) {
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
	var l ledger.Entry
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Decode(stored); err != nil {
			b.Fatal(err)
		}
	}
}
