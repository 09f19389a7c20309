package ledger_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/limits/ledger"
)

func testOffset(n uint64) ledger.Offset { return ledger.Offset{Seq: n, Offset: 8 * int64(n)} }

func line(n int, s ledger.State) *ledger.Entry {
	return &ledger.Entry{ID: fmt.Sprintf("0191f3a0-0000-7000-8000-%012x", n), State: s}
}

// Whatever is reserved and closed, in any order and more than once, the book has what is
// open and where the first of it stands.
func TestBookKnowsWhatIsOpen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b ledger.OpenEntries
		open := map[int]uint64{}
		rare := rapid.IntRange(0, 3).Draw(t, "closings for an opening")
		for offset := range uint64(rapid.IntRange(0, 4000).Draw(t, "lines")) {
			n := int(offset) // most lines are new; some are seen again
			if rapid.IntRange(0, 20).Draw(t, "again") == 0 {
				n = rapid.IntRange(0, int(offset)).Draw(t, "which")
			}
			if int(offset)%(rare+2) > 0 && len(open) > 1 { // the first stays open: others come and go behind it
				n = int(offset) - 1
				closed, err := b.Apply(testOffset(offset), line(n, ledger.Settled))
				if _, was := open[n]; err != nil || closed != was {
					t.Fatalf("closed %v, %v; was open %v", closed, err, was)
				}
				delete(open, n)
			} else {
				l := line(n, ledger.Reserved)
				if rapid.IntRange(0, 3).Draw(t, "a copy") == 0 {
					l.CopyOf = 1
				}
				if _, err := b.Apply(testOffset(offset), l); err != nil {
					t.Fatal(err)
				}
				if _, was := open[n]; !was || l.CopyOf != 0 {
					open[n] = offset
				}
			}
		}
		minOffset, some := uint64(0), false
		for n, offset := range open {
			if !b.Has(line(n, 0).ID) {
				t.Fatalf("line %d is not open", n)
			}
			if !some || offset < minOffset {
				minOffset, some = offset, true
			}
		}
		var offsets []uint64
		for offset := range b.Open() {
			offsets = append(offsets, offset.Seq)
		}
		if want := slices.Sorted(maps.Values(open)); !slices.Equal(offsets, want) {
			t.Fatalf("open at %v, want %v", offsets, want)
		}
		if offset, ok := b.Oldest(); b.Len() != len(open) || ok != some || offset.Seq != minOffset {
			t.Fatalf("%d open, the oldest at %d, %v; want %d, %d, %v", b.Len(), offset.Seq, ok, len(open), minOffset, some)
		}
	})
}

func TestBookRefusesWhatIsNoLine(t *testing.T) {
	t.Parallel()
	var b ledger.OpenEntries
	for _, l := range []*ledger.Entry{{ID: "none", State: ledger.Reserved}, line(1, 0), line(1, 77)} {
		if _, err := b.Apply(testOffset(1), l); !errors.Is(err, ledger.ErrMalformed) || b.Len() != 0 {
			t.Errorf("%+v: %v, %d open", l, err, b.Len())
		}
	}
	if b.Has("none") {
		t.Error("what is no id is open")
	}
}

// One line may be open for hours while millions come and go.
func TestBookOfOneOpenLineStaysSmall(t *testing.T) {
	var b ledger.OpenEntries
	if grew := heapGrowth(func() {
		for n := range 200_000 {
			for _, s := range []ledger.State{ledger.Reserved, ledger.Released} {
				if n == 0 && s == ledger.Released {
					continue
				}
				if _, err := b.Apply(testOffset(uint64(n)), line(n, s)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}); grew > 1<<20 {
		t.Errorf("%d bytes for one open line", grew)
	}
	if offset, ok := b.Oldest(); !ok || offset != testOffset(0) || b.Len() != 1 {
		t.Errorf("the oldest stands at %v, %v, of %d", offset, ok, b.Len())
	}
}

// After a crash all lines are closed in their order; the rest stay known meanwhile.
func TestBookIsClosedFromTheFront(t *testing.T) {
	t.Parallel()
	const lines = 10_000
	var b ledger.OpenEntries
	for n := range 2 * lines {
		if _, err := b.Apply(testOffset(uint64(n)), line(n, ledger.Reserved)); err != nil {
			t.Fatal(err)
		}
		if n < lines {
			continue
		}
		if was, err := b.Apply(testOffset(uint64(n)), line(n-lines, ledger.Unknown)); !was || err != nil {
			t.Fatalf("line %d was open: %v, %v", n-lines, was, err)
		}
		if offset, _ := b.Oldest(); offset != testOffset(uint64(n-lines+1)) || b.Len() != lines {
			t.Fatalf("the oldest of %d stands at %v", b.Len(), offset)
		}
	}
}

func TestBookTakesLittleForALine(t *testing.T) {
	const lines = 100_000
	var b ledger.OpenEntries
	grew := heapGrowth(func() {
		for n := range lines {
			if _, err := b.Apply(testOffset(uint64(n)), line(n, ledger.Reserved)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if perLine := grew / lines; perLine > 150 || b.Len() != lines {
		t.Errorf("%d bytes for each of %d lines", perLine, b.Len())
	}
}

func heapGrowth(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}
