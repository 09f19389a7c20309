package journal_test

import (
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
)

// A tail sees what comes after its beginning, holds back nothing that it read, and says what was gone
// before it looked.
func TestATailSaysWhatIsGone(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	tail := j.Journal.Tail()
	begin := tail.End()
	if ids, missed := idsFrom(tail, begin); len(ids) != 0 || missed != 0 {
		t.Errorf("of an empty journal: %d read, %d missed", len(ids), missed)
	}
	put(t, j, 0, 5)
	from := tail.End()
	put(t, j, 5, 200)
	ids, missed := idsFrom(tail, from)
	if len(ids) != 195 || missed != 0 || ids[0] != recordtest.Chat(5).ID || ids[194] != recordtest.Chat(199).ID {
		t.Errorf("%d read, %d missed", len(ids), missed)
	}
	_, end := read(j, record.Position{})
	if err := j.Trim(end); err != nil {
		t.Fatal(err)
	}
	left, missed := idsFrom(tail, begin)
	if missed == 0 || uint64(len(left))+missed != 200 {
		t.Errorf("%d read and %d missed of 200", len(left), missed)
	}
}

// What a tail has not read when the consumers let go of it is there for it when it looks
// again, in a few files; what is beyond is gone, and no file stays once it was read.
func TestFilesAreKeptForATail(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	tail := j.Journal.Tail()
	from, _ := tail.Read(tail.End(), func(record.Entry) bool { return true })
	var end record.Position
	trimmed := func(to int) {
		t.Helper()
		if err := j.Trim(end); err != nil {
			t.Fatal(err)
		}
		if n := j.Stats().Segments; n > to {
			t.Errorf("%d files are kept, want %d at most", n, to)
		}
	}
	n := 0
	for j.Stats().Segments < 4 {
		put(t, j, n, n+1)
		n++
	}
	_, end = read(j, record.Position{})
	trimmed(4)
	ids, missed := idsFrom(tail, from)
	if len(ids) != n || missed != 0 {
		t.Errorf("%d read and %d missed of %d", len(ids), missed, n)
	}
	trimmed(1)
	more := n
	for j.Stats().Segments < 12 {
		put(t, j, more, more+1)
		more++
	}
	_, end = read(j, end)
	trimmed(5)
	ids, missed = idsFrom(tail, end)
	if len(ids) != 0 || missed != 0 {
		t.Errorf("at the end: %d read, %d missed", len(ids), missed)
	}
	ids, missed = idsFrom(tail, record.Position{Seq: from.Seq + uint64(n)})
	if missed == 0 || len(ids) == 0 || uint64(len(ids))+missed != uint64(more-n) {
		t.Errorf("%d read and %d missed of %d", len(ids), missed, more-n)
	}
}

func idsFrom(tail *journal.Tail, from record.Position) (ids []string, missed uint64) {
	_, missed = tail.Read(from, func(e record.Entry) bool { ids = append(ids, e.Attempt.ID); return true })
	return ids, missed
}
