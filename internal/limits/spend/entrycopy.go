package spend

import (
	"slices"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
)

// entryCopier is the state of copying old open entries. The journal is retained from the
// oldest open entry on, and a call may take hours. An open entry that is followed by many
// others is therefore copied to the end, where the copy replaces it.
//
// An entry may be closed between the moment it is copied and the moment its copy is read. Such
// a copy is too late. It must not open the entry again, not even at the next start, when the
// closing entry before it may be deleted. So nothing is trimmed while a copy is pending, and a
// copy that is too late is closed by a separate entry with an id and nothing else.
type entryCopier struct {
	first   uint64         // position of the first entry that was read
	pending int            // copies that were written and not read yet
	late    []ledger.Entry // closing entries to be written for copies that were too late
}

// maxCopies is the maximum number of copies in one round.
const maxCopies = 10_000

// copyOldEntries copies the entries that are open for longest. If many are open the limit is
// higher; otherwise the copies alone would make the entries old again.
func (f *Consumer) copyOldEntries() error {
	if !f.serving || f.pending > 0 {
		return nil
	}
	limit := uint64(max(f.o.CopyAfter, 2*f.openEntries.Len()))
	var old []ledger.Offset
	for offset := range f.openEntries.Open() {
		if len(old) == maxCopies || f.read.Seq-offset.Seq <= limit {
			break
		}
		old = append(old, offset)
	}
	for _, offset := range old {
		if err := f.copyLine(offset); err != nil {
			return err
		}
	}
	return nil
}

// copyLine writes the entry at an offset again.
func (f *Consumer) copyLine(offset ledger.Offset) (err error) {
	f.o.Lines.Read(record.Position(offset), func(_ record.Position, l *ledger.Entry) bool {
		l.CopyOf = offset.Seq
		if err = f.o.Journal.AppendLine(l); err == nil {
			f.pending++
		}
		return false
	})
	return err
}

// tooLate processes a copy that was read and reports whether its entry was closed before: it
// is not open, although the original was read. A copy whose original was not read opens the
// entry, as the original would have.
func (f *Consumer) tooLate(l *ledger.Entry) bool {
	if l.State != ledger.Reserved {
		return false
	}
	f.pending = max(f.pending-1, 0)
	if f.openEntries.Has(l.ID) || l.CopyOf < f.first {
		return false
	}
	f.late = append(f.late, ledger.Entry{ID: l.ID, State: ledger.Released, RecordedAt: l.RecordedAt, CopyOf: l.CopyOf})
	return true
}

// endLate writes the entries that close copies that were too late.
func (f *Consumer) endLate() error {
	for len(f.late) > 0 {
		if err := f.o.Journal.AppendLine(&f.late[0]); err != nil {
			return err
		}
		f.late = slices.Delete(f.late, 0, 1)
	}
	return nil
}
