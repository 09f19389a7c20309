package journal

import (
	"context"

	"sluice/internal/record"
)

// Tail reads log records as they come and keeps nothing from being deleted: what the
// consumers let go of before it was read is missed. It is for what may be lost, such as
// the export of traces. Its methods are safe for concurrent use.
type Tail struct{ j *Journal }

// Tail reads from wherever its user says, End at first.
func (j *Journal) Tail() *Tail { return &Tail{j} }

// End is the position behind the last entry.
func (t *Tail) End() record.Position {
	t.j.mu.Lock()
	defer t.j.mu.Unlock()
	return record.Position{Seq: t.j.next}
}

// Read is as Records.Read. missed is how many entries, of both kinds, were deleted before
// they were read; those deleted while Read runs are passed over uncounted.
func (t *Tail) Read(from record.Position, visit func(*record.Attempt, *record.Correction) bool) (next record.Position, missed uint64) {
	oldest := t.oldest()
	if from.Seq < oldest {
		missed, from = oldest-from.Seq, record.Position{Seq: oldest}
	}
	return t.j.readRecords(from, visit), missed
}

// Wait is as Records.Wait.
func (t *Tail) Wait(ctx context.Context, at record.Position) error { return t.j.waitRecord(ctx, at) }

// oldest is the number of the first entry that is there, or of the next one to come.
func (t *Tail) oldest() uint64 {
	t.j.mu.Lock()
	defer t.j.mu.Unlock()
	if len(t.j.segments) == 0 {
		return t.j.next
	}
	return t.j.segments[0].first
}
