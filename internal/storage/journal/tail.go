package journal

import (
	"context"
	"slices"

	"sluice/internal/domain/record"
)

// Tail reads log records as they arrive. If consumers trim what it has not read, at most
// tailFiles files are retained for it, as long as there is space for more; entries beyond that
// are missed. It is for data that may be lost, such as exported traces. Its methods are safe
// for concurrent use; each reader needs its own Tail.
type Tail struct {
	files   *segmentSet
	scanner *scanner
	read    uint64 // number before which everything is read; 0 before the first Read; guarded by segmentSet.mu
}

// tailFiles is the number of files that are retained for tails. They read the journal a few
// times a second, and a file that is written and consumed at once could come and go in
// between.
const tailFiles = 4

// Tail returns a Tail that reads from any position, initially End. From its first Read on,
// files are retained for it until the journal is closed.
func (j *Journal) Tail() *Tail {
	t := &Tail{files: &j.files, scanner: &j.scanner}
	j.files.mu.Lock()
	defer j.files.mu.Unlock()
	j.consumers.tails = append(j.consumers.tails, t)
	return t
}

// countRemovable returns how many of the oldest n files, which the consumers have trimmed, are
// removed. Those that tails have not read yet are retained if they are few and do not take
// space from new entries. Callers hold segmentSet.mu.
func (c *consumers) countRemovable(n int) int {
	if c.pool.createError != nil || c.files.size()+(tailFiles+1)*c.o.SegmentBytes > c.o.MaxBytes {
		return n
	}
	gone := n
	for _, t := range c.tails {
		unread := func(s *segment) bool { return s.next > t.read }
		if first := slices.IndexFunc(c.files.segments[:n], unread); t.read > 0 && first >= 0 {
			gone = min(gone, first)
		}
	}
	return max(gone, n-tailFiles)
}

// End returns the position after the last entry.
func (t *Tail) End() record.Position {
	t.files.mu.Lock()
	defer t.files.mu.Unlock()
	return record.Position{Seq: t.files.next}
}

// Read works like Records.Read. missed is the number of entries, of both kinds, that were
// deleted before they were read. Entries deleted while Read runs are skipped and not counted.
func (t *Tail) Read(from record.Position, visit func(record.Entry) bool) (next record.Position, missed uint64) {
	oldest := t.oldest()
	if from.Seq < oldest {
		missed, from = oldest-from.Seq, record.Position{Seq: oldest}
	}
	next = t.scanner.readRecords(from, visit)
	t.files.mu.Lock()
	defer t.files.mu.Unlock()
	t.read = next.Seq
	return next, missed
}

// Wait works like Records.Wait.
func (t *Tail) Wait(ctx context.Context, pos record.Position) error {
	return t.scanner.waitRecord(ctx, pos)
}

// oldest returns the number of the first entry, or of the next one to come.
func (t *Tail) oldest() uint64 {
	t.files.mu.Lock()
	defer t.files.mu.Unlock()
	if len(t.files.segments) == 0 {
		return t.files.next
	}
	return t.files.segments[0].first
}
