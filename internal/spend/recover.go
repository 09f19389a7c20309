package spend

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sluice/internal/ledger"
	"sluice/internal/record"
)

// Recover brings the store up to what the journal knows, before anything is served: it
// closes the lines that the last process left open, each with its bound, and stores what
// was not stored. Behind it the meters of the store are what was used; then is the time
// to load them. After an error it may be called again, or, where it is that the store takes
// no writes, Postpone.
//
// Lines that cannot be closed because the journal is full stay open until the next start,
// which is logged and shown by Err.
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

// abandonBatch is how many lines are closed before what they come to is stored.
const abandonBatch = 10_000

// abandonAll closes all open lines and stores what they come to, a batch at a time: what
// was written of one is read again while it is in the caches of the processor. left says
// why some lines stay open.
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

// openPositions are those of the open lines.
func (f *Consumer) openPositions() []record.Position {
	out := make([]record.Position, 0, f.openEntries.Len())
	for pos := range f.openEntries.Open() {
		out = append(out, record.Position(pos))
	}
	return out
}

// abandon closes the lines at some places, until the journal takes no more. They are read
// once more: the book has their places only. A closing that stands right behind what was
// read needs no reading: it is taken as it is. So are all but those of the first batch,
// before which the numbers of the journal jump.
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

// interrupted makes the log record of a call that an earlier process did not end, with
// the closing of its line.
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
