package journal

import (
	"context"
	"slices"

	"sluice/internal/record"
)

// Tail reads log records as they come. What it has not read when the consumers let go of it
// is kept for it in tailFiles files at most, as long as there is room for more, and missed
// beyond. It is for what may be lost, such as the export of traces. Its methods are safe for
// concurrent use; each reader has one of its own.
type Tail struct {
	j    *Journal
	read uint64 // number before which it has read everything; 0 before it began; guarded by Journal.mu
}

// tailFiles is how many files are kept for tails. They look at the journal a few times a
// second, in which a file that is written and consumed at once would come and go.
const tailFiles = 4

// Tail reads from wherever its user says, End at first. From its first Read on it is kept
// for, until the journal is closed.
func (j *Journal) Tail() *Tail {
	t := &Tail{j: j}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tails = append(j.tails, t)
	return t
}

// countRemovable is how many of the oldest n files, which the consumers let go of, go: those that
// tails have to read yet stay, where they are few and keep no room from what is written.
// Callers hold mu.
func (j *Journal) countRemovable(n int) int {
	if j.createError != nil || j.size()+(tailFiles+1)*j.o.SegmentBytes > j.o.MaxBytes {
		return n
	}
	gone := n
	for _, t := range j.tails {
		unread := func(s *segment) bool { return s.next > t.read }
		if first := slices.IndexFunc(j.segments[:n], unread); t.read > 0 && first >= 0 {
			gone = min(gone, first)
		}
	}
	return max(gone, n-tailFiles)
}

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
	next = t.j.readRecords(from, visit)
	t.j.mu.Lock()
	defer t.j.mu.Unlock()
	t.read = next.Seq
	return next, missed
}

// Wait is as Records.Wait.
func (t *Tail) Wait(ctx context.Context, pos record.Position) error { return t.j.waitRecord(ctx, pos) }

// oldest is the number of the first entry that is there, or of the next one to come.
func (t *Tail) oldest() uint64 {
	t.j.mu.Lock()
	defer t.j.mu.Unlock()
	if len(t.j.segments) == 0 {
		return t.j.next
	}
	return t.j.segments[0].first
}
