package spend

import (
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
func (f *Follower) Recover(ctx context.Context) error {
	if err := f.catchUp(ctx); err != nil {
		return fmt.Errorf("recover the ledger: %w", err)
	}
	left := f.abandon(ctx)
	if err := f.catchUp(ctx); err != nil {
		return fmt.Errorf("recover the ledger: %w", err)
	}
	f.setFailure(left)
	f.serving = true
	return f.o.Lines.Trim(f.needed())
}

// abandon closes all open lines. They are read once more: the book has their places only.
func (f *Follower) abandon(ctx context.Context) (err error) {
	open := f.book.Len()
	if open == 0 {
		return nil
	}
	places := slices.Collect(f.book.Open())
	now, done := f.o.Clock.Now(), 0
	var a record.Attempt
	f.o.Lines.Read(f.needed(), func(at record.Position, l *ledger.Line) bool {
		if done == open || ctx.Err() != nil {
			return false
		}
		if at.Seq != places[done].Seq {
			return true
		}
		interrupted(&a, l, now)
		if err = f.o.Journal.Append(&a); err != nil {
			return false
		}
		done++
		return true
	})
	f.note(func(s *Stats) { s.Abandoned += uint64(done) })
	if err != nil {
		err = fmt.Errorf("close %d lines of the last run: %w", open-done, err)
		f.o.Logger.Error("what interrupted calls may have cost does not count before the next start", "error", err)
		return err
	}
	f.o.Logger.Warn("calls were interrupted; each counts with the bound of its cost", "lines", done)
	return nil
}

// interrupted makes the log record of a call that an earlier process did not end, with
// the closing of its line.
func interrupted(a *record.Attempt, l *ledger.Line, now time.Time) {
	room, started := a.Closing[:0], l.At
	l.Abandon(now)
	l.CopyOf = 0
	*a = record.Attempt{
		ID: l.ID, RequestID: l.RequestID, TraceID: l.RequestID, Started: started,
		OrgID: l.OrgID, WorkspaceID: l.WorkspaceID, KeyID: l.KeyID,
		Provider: l.Provider, ProviderID: l.ProviderID, Model: l.Model, Endpoint: l.Endpoint,
		Outcome: record.Interrupted, Error: "the gateway stopped before the call ended",
		Spend:   record.Spend{State: l.State.String(), Cost: l.Amount, Bound: l.Amount},
		Closing: l.AppendTo(room),
	}
	if l.Unpriced {
		a.Spend.Unpriced = "no_price"
	}
}
