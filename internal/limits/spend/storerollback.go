package spend

import (
	"context"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
)

// replayFrom handles a store that lost recent usage, for example after a failover to a replica
// or a restored backup. It adds up again what the journal still contains of that. The limiter
// gets it only through the returned meters, as for corrections, because it was settled there
// long ago. replayFrom returns conflict if the store is ahead, which means that another
// process counts for this node.
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
