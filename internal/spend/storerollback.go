package spend

import (
	"context"

	"sluice/internal/ledger"
	"sluice/internal/record"
)

// replayFrom follows a store that has forgotten what it counted last, as a replica that took
// over or a backup that was put in its place has: what the journal still holds of it is
// summed once more. The bank learns of that by the meters as they are then, as it does of
// corrections: it was settled there long ago. The conflict comes back where the store is
// ahead, so that another process counts for this node.
func (f *Consumer) replayFrom(ctx context.Context, conflict error) error {
	storedSeq, err := f.o.Store.UsagePosition(ctx, f.o.Node)
	if err != nil {
		return err
	}
	if storedSeq >= f.counted {
		return conflict
	}
	lines := f.unstoredUsage.lines
	f.o.Lines.Read(record.Position{}, func(pos record.Position, l *ledger.Entry) bool {
		if pos.Seq >= storedSeq && pos.Seq < f.counted && counts(pos, l) {
			f.unstoredUsage.add(l, false)
		}
		return pos.Seq < f.counted
	})
	f.o.Logger.Warn("database lost recent usage (failover or restore); replaying it from the journal",
		"lines", f.unstoredUsage.lines-lines, "from", storedSeq, "to", f.counted)
	f.counted, f.unsure = storedSeq, false
	return nil
}
