package journal_test

import (
	"testing"

	"sluice/internal/journal"
	"sluice/internal/record"
	"sluice/internal/record/recordtest"
)

// A tail sees what comes after its beginning, holds nothing back, and says what was gone
// before it looked.
func TestATailHoldsNothingBack(t *testing.T) {
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

func idsFrom(tail *journal.Tail, from record.Position) (ids []string, missed uint64) {
	_, missed = tail.Read(from, func(a *record.Attempt, _ *record.Correction) bool { ids = append(ids, a.ID); return true })
	return ids, missed
}
