package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/limits/ledger"
	"sluice/internal/storage/journal"
)

// reserved is the ledger line of the n-th chat before it is sent.
func reserved(n int) *ledger.Entry {
	a := recordtest.Chat(n)
	return &ledger.Entry{
		ID: a.ID, RequestID: a.RequestID, State: ledger.Reserved, RecordedAt: a.Started, OrgID: a.OrgID, WorkspaceID: a.WorkspaceID, KeyID: a.KeyID,
		Provider: a.Provider, Model: a.Model, Endpoint: a.Endpoint, Amount: 900_000,
		Charges: []ledger.Charge{{Subject: a.KeyID, Entry: "monthly", Units: 900_000}, {Subject: a.WorkspaceID, ValueKey: "model:gpt-4o-mini", Units: 1}},
	}
}

// closed is the line of the n-th chat when it has ended.
func closed(n int) *ledger.Entry {
	l := reserved(n)
	l.State, l.Amount, l.Charges[0].Units = ledger.Settled, int64(n), int64(n)
	return l
}

// closing is the n-th chat with the end of its line.
func closing(n int) *record.Attempt {
	a := recordtest.Chat(n)
	a.Closing = closed(n).AppendTo(nil)
	return a
}

// readLines returns copies of the lines from a position on.
func readLines(r *journal.Lines, from record.Position) (out []*ledger.Entry, end record.Position) {
	end = r.Read(from, func(pos record.Position, l *ledger.Entry) bool {
		c := *l
		c.Known, c.Charges = nil, append([]ledger.Charge(nil), l.Charges...)
		out = append(out, &c)
		return true
	})
	return out, end
}

func sameLines(t *testing.T, what string, got, want []*ledger.Entry) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// spend appends the chats from..to-1 as the data plane does: the line first, and its end
// with the record.
func spend(t testing.TB, j opened, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := errors.Join(j.AppendLine(reserved(n)), j.Append(closing(n))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEachConsumerSeesItsKind(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	lines := j.Journal.Lines()
	var records []*record.Attempt
	var want []*ledger.Entry
	for n := range 40 {
		spend(t, j, 2*n, 2*n+1)
		put(t, j, 2*n+1, 2*n+2)
		records = append(records, closing(2*n), recordtest.Chat(2*n+1))
		want = append(want, reserved(2*n), closed(2*n))
	}
	got, end := read(j, record.Position{})
	same(t, "records", got, records)
	gotLines, endOfLines := readLines(lines, record.Position{})
	sameLines(t, "lines", gotLines, want)
	if end != endOfLines {
		t.Errorf("records end at %+v, lines at %+v", end, endOfLines)
	}
	var middle record.Position
	lines.Read(record.Position{}, func(pos record.Position, _ *ledger.Entry) bool { middle = pos; return pos.Seq < end.Seq-30 })
	all := len(gotLines)
	gotLines, _ = readLines(lines, middle)
	if len(gotLines) == 0 || len(gotLines) == all {
		t.Fatalf("%d of %d lines from the middle", len(gotLines), all)
	}
	sameLines(t, "from a place that was told", gotLines, want[all-len(gotLines):])
	gotLines, _ = readLines(lines, record.Position{Seq: middle.Seq})
	sameLines(t, "from there without the hint", gotLines, want[all-len(gotLines):])
}

// Lines are found where they were told to stand, and those between are not even decoded.
func TestReadAtGivesTheLinesOfItsPlaces(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	lines := j.Journal.Lines()
	var positions []record.Position
	var want []*ledger.Entry
	expect := record.Position{}
	for n := range 60 {
		broken := recordtest.Chat(n)
		broken.Closing = []byte("no line")
		if err := errors.Join(j.AppendLine(reserved(n)), j.Append(broken)); err != nil {
			t.Fatal(err)
		}
		pos, next, err := j.AppendWhere(closing(n))
		if err != nil || n > 0 && pos.Seq != expect.Seq+2 {
			t.Fatalf("stands at %+v behind %+v: %v", pos, expect, err)
		}
		if expect = next; n%3 == 1 {
			positions, want = append(positions, pos), append(want, closed(n))
		}
	}
	var got []*ledger.Entry
	take := func(pos record.Position, l *ledger.Entry) bool {
		if pos != positions[len(got)] {
			t.Errorf("line %d stands at %+v, want %+v", len(got), pos, positions[len(got)])
		}
		c := *l
		c.Known, c.Charges = nil, slices.Clone(l.Charges)
		got = append(got, &c)
		return len(got) < len(want)-1
	}
	lines.ReadAt(nil, take)
	lines.ReadAt(positions, take)
	sameLines(t, "until it was enough", got, want[:len(want)-1])
	if n := j.Stats().Damaged; n != 0 {
		t.Errorf("%d damaged entries were looked at", n)
	}
	got = nil
	lines.ReadAt(append(positions[:len(positions):len(positions)], record.Position{Seq: expect.Seq + 5}), func(pos record.Position, l *ledger.Entry) bool { take(pos, l); return true })
	sameLines(t, "and a place where nothing is", got, want)
}

// What one consumer has taken stays while another needs it, and goes when none does.
func TestTheLastConsumerDecidesWhatGoes(t *testing.T) {
	t.Parallel()
	o := small(t.TempDir())
	j := open(t, o)
	lines := j.Journal.Lines()
	spend(t, j, 0, 60)
	_, end := read(j, record.Position{})
	if err := j.Trim(end); err != nil {
		t.Fatal(err)
	}
	if j.Records.Lag() != 0 || lines.Lag() != 120 || j.Stats().Lag != 120 {
		t.Errorf("lags of %d, %d and %d, want 0, 120 and 120", j.Records.Lag(), lines.Lag(), j.Stats().Lag)
	}
	remaining, _ := readLines(lines, record.Position{})
	if len(remaining) != 120 {
		t.Fatalf("%d lines are left, want all 120", len(remaining))
	}
	before := j.Stats().Segments
	if err := errors.Join(lines.Trim(end), lines.Trim(record.Position{})); err != nil {
		t.Fatal(err)
	}
	if j.Stats().Lag != 0 || j.Stats().Segments >= before {
		t.Errorf("%d entries and %d of %d files are left", j.Stats().Lag, j.Stats().Segments, before)
	}
}

// The log store sleeps while there are only lines.
func TestWaitForARecordSleepsThroughLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := open(t, small(t.TempDir()))
		lines := j.Journal.Lines()
		recorded, lined := make(chan error, 1), make(chan error, 1)
		go func() { recorded <- j.Wait(t.Context(), record.Position{}) }()
		go func() { lined <- lines.Wait(t.Context(), record.Position{}) }()
		synctest.Wait()
		if err := j.AppendLine(reserved(1)); err != nil {
			t.Fatal(err)
		}
		if err := <-lined; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		select {
		case err := <-recorded:
			t.Fatalf("woken by a line: %v", err)
		default:
		}
		put(t, j, 1, 2)
		if err := <-recorded; err != nil {
			t.Error(err)
		}
	})
}

func TestLineThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	l := reserved(1)
	l.Model = string(make([]byte, 9<<10))
	if err := j.AppendLine(l); !errors.Is(err, journal.ErrTooLarge) || j.Stats().Refused != 1 {
		t.Errorf("got %v, %+v; want too large and counted", err, j.Stats())
	}
}

// A record that loses its bodies keeps the end of its line.
func TestCutRecordStillClosesItsLine(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	lines := j.Journal.Lines()
	a := closing(3)
	a.Response.Bytes = make([]byte, 20<<10)
	if err := j.Append(a); err != nil {
		t.Fatal(err)
	}
	got, _ := readLines(lines, record.Position{})
	sameLines(t, "read", got, []*ledger.Entry{closed(3)})
}

// Bytes that begin as a record or line and are none are counted once, by whoever would
// have taken them.
func TestLineThatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	lines := j.Journal.Lines()
	a := recordtest.Chat(1)
	a.Closing = []byte("no line")
	if err := errors.Join(j.Append(a), j.AppendLine(reserved(2))); err != nil {
		t.Fatal(err)
	}
	got, _ := readLines(lines, record.Position{})
	sameLines(t, "read", got, []*ledger.Entry{reserved(2)})
	if st := j.Stats(); st.Damaged != 1 {
		t.Errorf("%d damaged, want one", st.Damaged)
	}
}

func TestAppendOfALineAllocatesNothing(t *testing.T) {
	j := open(t, journal.Options{Dir: t.TempDir()})
	l := reserved(1)
	if n := testing.AllocsPerRun(1000, func() { _ = j.AppendLine(l) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkAppendLine(b *testing.B) {
	l := reserved(1)
	benchmarkAppend(b, l.EncodedSize(), func(j opened) error { return j.AppendLine(l) })
}

func BenchmarkReadLines(b *testing.B) {
	const calls = 2000
	j := open(b, journal.Options{Dir: b.TempDir()})
	lines := j.Journal.Lines()
	spend(b, j, 0, calls)
	b.ReportAllocs()
	for b.Loop() {
		seen := 0
		lines.Read(record.Position{}, func(record.Position, *ledger.Entry) bool { seen++; return true })
		if seen != 2*calls {
			b.Fatal(fmt.Sprint(seen, " lines"))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*calls), "ns/line")
}

// What is left of the last file takes the records of calls under way without their bodies
// when it has no room for these: how a call ended, and what it cost, is not to be lost.
func TestFullJournalSparesBodiesBeforeRecords(t *testing.T) {
	t.Parallel()
	o := small(t.TempDir())
	o.MaxBytes = 3 * o.SegmentBytes
	j := open(t, o)
	for n := 0; j.AppendLine(reserved(n)) == nil; n++ {
	}
	if !errors.Is(j.Err(), journal.ErrFull) {
		t.Errorf("lines are refused, and health says %v", j.Err())
	}
	const calls = 12
	for n := range calls {
		a := closing(n)
		a.Response.Bytes = bytes.Repeat([]byte("x"), 6<<10)
		if err := j.Append(a); err != nil {
			t.Fatalf("the end of call %d: %v", n, err)
		}
	}
	got, _ := read(j, record.Position{})
	bare := 0
	for n, a := range got {
		if a.ID != closing(n).ID || len(a.Closing) == 0 {
			t.Errorf("record %d is %s", n, a.ID)
		}
		if len(a.Response.Bytes) == 0 && a.Response.Truncated {
			bare++
		}
	}
	if st := j.Stats(); len(got) != calls || bare == 0 || bare == calls || st.Cut != uint64(bare) || st.Refused != 1 {
		t.Errorf("%d of %d records, %d without bodies; stats %+v", len(got), calls, bare, st)
	}
}

// A journal that is nearly full begins no further call, so that it can end those that are
// under way.
func TestNearlyFullJournalStillClosesLines(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	n := 0
	for ; j.AppendLine(reserved(n)) == nil; n++ {
	}
	if err := j.AppendLine(reserved(n)); !errors.Is(err, journal.ErrFull) {
		t.Fatalf("the line behind the last: %v", err)
	}
	for i := range 10 {
		if err := j.Append(closing(i)); err != nil {
			t.Fatalf("of %d lines the closing of %d: %v", n, i, err)
		}
	}
}
