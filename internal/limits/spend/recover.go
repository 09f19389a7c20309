package spend

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
)

// Recover brings the store up to date with the journal, before anything is served. It closes
// the entries that the last process left open, each at its maximum cost, and stores what was
// not stored. Afterwards the meters of the store are complete and can be loaded. After an
// error the caller may call it again, or call Postpone if the store cannot be written.
//
// If the journal is full, some entries cannot be closed and stay open until the next start.
// This is logged, and Err returns it.
func (f *Consumer) Recover(ctx context.Context) error {
	if err := f.catchUp(ctx); err != nil {
		return fmt.Errorf("recover ledger: %w", err)
	}
	left, err := f.abandonAll(ctx)
	if err != nil {
		return fmt.Errorf("recover ledger: %w", err)
	}
	f.setFailure(left)
	f.serving = true
	return f.o.Lines.Trim(f.needed())
}

// abandonBatch is the number of entries that are closed before their usage is stored.
const abandonBatch = 10_000

// abandonAll closes all open entries and stores their usage in batches, so that what was
// written is read again while it is in the processor caches. left is the reason why some
// entries stay open.
func (f *Consumer) abandonAll(ctx context.Context) (left, err error) {
	open := f.openPositions()
	if len(open) == 0 {
		return nil, nil
	}
	done := 0
	for batch := range slices.Chunk(open, min(f.o.Batch, abandonBatch)) {
		var n int
		n, left = f.abandon(batch)
		done += n
		if err := f.catchUp(ctx); err != nil {
			return nil, err
		}
		if left != nil {
			break
		}
	}
	if left != nil {
		left = fmt.Errorf("close %d ledger entries of the last run: %w", len(open)-done, left)
		f.o.Logger.Error("cannot charge interrupted calls; they count after the next start", "error", left)
		return left, nil
	}
	f.o.Logger.Warn("found interrupted calls; charging their maximum cost", "lines", done)
	return nil, nil
}

// openPositions returns the positions of the open entries.
func (f *Consumer) openPositions() []record.Position {
	out := make([]record.Position, 0, f.openEntries.Len())
	for pos := range f.openEntries.Open() {
		out = append(out, record.Position(pos))
	}
	return out
}

// abandon closes the entries at some positions, until the journal rejects more. It reads them
// again, because only their positions are stored in memory. A closing entry that directly
// follows what was read is applied without reading it. That is the case for all except those
// of the first batch, before which the numbers of the journal jump.
func (f *Consumer) abandon(positions []record.Position) (done int, err error) {
	now := f.o.Clock.Now().UTC()
	var a record.Attempt
	var st Stats
	f.o.Lines.ReadAt(positions, func(_ record.Position, l *ledger.Entry) bool {
		interrupted(&a, l, now)
		var pos, next record.Position
		if pos, next, err = f.o.Journal.AppendWhere(&a); err != nil {
			return false
		}
		done++
		if pos.Seq == f.read.Seq {
			f.take(pos, l, &st)
			f.read, f.unstoredUsage.to = next, next.Seq
		}
		return true
	})
	f.note(func(s *Stats) { s.Abandoned += uint64(done) })
	f.noteTaken(&st)
	return done, err
}

// interrupted builds the log record of a call that an earlier process did not finish, with its
// closing entry.
func interrupted(a *record.Attempt, l *ledger.Entry, now time.Time) {
	buf, started := a.Closing[:0], l.RecordedAt
	l.CloseAtMaximum(now)
	l.CopyOf = 0
	*a = record.Attempt{
		ID: l.ID, RequestID: l.RequestID, TraceID: cmp.Or(l.TraceID, l.RequestID), Started: started,
		OrgID: l.OrgID, WorkspaceID: l.WorkspaceID, KeyID: l.KeyID,
		Provider: l.Provider, ProviderID: l.ProviderID, Model: l.Model, Endpoint: l.Endpoint,
		Outcome: record.Interrupted, Error: "the gateway stopped before the call ended",
		Spend:   record.Spend{State: l.State.String(), Cost: l.Amount, MaxCost: l.Amount},
		Closing: l.AppendTo(buf),
	}
	if l.Unpriced {
		a.Spend.Unpriced = "no_price"
	}
}
