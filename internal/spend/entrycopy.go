package spend

import (
	"slices"

	"sluice/internal/ledger"
	"sluice/internal/record"
)

// The journal is kept from the oldest open line on, and a call may take hours. So a line
// behind which much was written is copied to the end, where the copy stands for it.
//
// A line may be closed between the moment it is copied and the moment its copy is read.
// Such a copy is too late: it must not open the line again, at the next start neither,
// when the closing before it may be gone. So nothing is trimmed while a copy is on its
// way, and one that is too late is closed by a line of its own, with an id and nothing else.
type entryCopier struct {
	first   uint64         // where the first line stands that was read
	pending int            // copies that were written and not read yet
	late    []ledger.Entry // closings of copies that were too late, to be written
}

// maxCopies bounds the copies of one round.
const maxCopies = 10_000

// copyOldEntries copies the lines that are open for longest. With many open, more may be written
// behind them, or their copies alone would make them old again.
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

// copyLine writes the line at a place once more.
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

// tooLate takes note of a copy that was read, and reports whether its line was closed
// before: it is not open, though it was read where it stood. A copy whose line was not
// read opens it, as the line itself would have done.
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

// endLate writes what closes the copies that were too late.
func (f *Consumer) endLate() error {
	for len(f.late) > 0 {
		if err := f.o.Journal.AppendLine(&f.late[0]); err != nil {
			return err
		}
		f.late = slices.Delete(f.late, 0, 1)
	}
	return nil
}
