package spend

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/ledger"
)

// Run stores usage until ctx ends, then stores what remains, for at most five seconds. It
// sleeps while nothing is appended. Failures are logged and the same usage is stored again,
// after a pause that grows to 30 seconds. The error is that of the final attempt. Usage that
// is not stored then remains in the journal for the next start.
func (f *Consumer) Run(ctx context.Context) error {
	background.RunWithBackoff(ctx, f.follow, func() uint64 { return f.Stats().Batches }, func(err error, pause time.Duration) {
		f.outage.Failed(err, "retry", pause)
	})
	if err := background.RunFinal(ctx, f.catchUp); err != nil {
		return fmt.Errorf("store last usage: %w", err)
	}
	return nil
}

// follow adds up entries as they arrive and stores the usage after a pause, until something
// fails or ctx ends.
func (f *Consumer) follow(ctx context.Context) error {
	if err := f.catchUp(ctx); err != nil { // usage that failed to be stored before
		return err
	}
	for waited := time.Duration(0); ; {
		if f.unstoredUsage.lines == 0 {
			if err := f.o.Lines.Wait(ctx, f.read); err != nil {
				return err
			}
		}
		if background.Sleep(ctx, f.o.Interval) != nil {
			return ctx.Err()
		}
		if waited += f.o.Interval; !f.fill() && waited < f.pause() {
			continue
		}
		waited = 0
		if err := f.catchUp(ctx); err != nil {
			return err
		}
	}
}

// manyMeters is the number of meters that one transaction updates cheaply. After a transaction
// with more, usage waits longer, up to longestPause times the interval, because each meter
// costs the same to store whether one call used it or a hundred. The entries remain in the
// journal meanwhile, whose files are reused only after that, but they are read at once, while
// they are in memory.
const (
	manyMeters   = 2000
	longestPause = 16
)

// pause returns how long usage waits before it is stored.
func (f *Consumer) pause() time.Duration {
	return f.o.Interval * time.Duration(min(1+f.stored/manyMeters, longestPause))
}

// catchUp reads and stores until nothing is left.
func (f *Consumer) catchUp(ctx context.Context) error {
	if err := f.locate(ctx); err != nil {
		f.setFailure(err)
		return err
	}
	for full := true; full; {
		if err := ctx.Err(); err != nil {
			return err
		}
		full = f.fill()
		err := f.flush(ctx)
		if fault.Has(err, fault.Conflict) {
			err, full = f.replayFrom(ctx, err), true
		}
		if err != nil {
			f.setFailure(err)
			return err
		}
		f.setFailure(nil)
	}
	return f.copyOldEntries()
}

// fill reads entries into the pending usage. full reports that there may be more entries than
// fit. Usage that the store may already have, because the result of storing it is unknown,
// does not change, so that the store can detect the repetition.
func (f *Consumer) fill() (full bool) {
	if f.unsure || f.unstoredUsage.full(f.o.Batch) {
		return true
	}
	var st Stats
	f.read = f.o.Lines.Skim(f.read, func(pos record.Position, l *ledger.Entry) bool {
		if f.first == 0 {
			f.first = pos.Seq
		}
		f.take(pos, l, &st)
		return !f.unstoredUsage.full(f.o.Batch)
	})
	f.unstoredUsage.to = f.read.Seq
	f.noteTaken(&st)
	return f.unstoredUsage.full(f.o.Batch)
}

// noteTaken adds the counts from take to the statistics.
func (f *Consumer) noteTaken(st *Stats) {
	f.note(func(s *Stats) {
		s.Unreserved, s.Malformed, s.Open = s.Unreserved+st.Unreserved, s.Malformed+st.Malformed, f.openEntries.Len()
		s.Corrected += st.Corrected
	})
}

// take applies one entry to the open entries, and adds its charges to the pending usage if it
// is closed and not counted yet. A correction was never open, so it is not applied to the open
// entries.
func (f *Consumer) take(pos record.Position, l *ledger.Entry, st *Stats) {
	if l.State == ledger.Corrected {
		if pos.Seq >= f.counted {
			st.Corrected++
			f.unstoredUsage.add(l, pos.Seq < f.deferredUntil)
		}
		return
	}
	if l.CopyOf != 0 && f.tooLate(l) {
		return
	}
	closed, err := f.openEntries.Apply(ledger.Offset(pos), l)
	switch {
	case err != nil:
		st.Malformed++
	case l.State.Closes() && l.CopyOf == 0 && pos.Seq >= f.counted:
		if !closed {
			st.Unreserved++
		}
		f.unstoredUsage.add(l, true)
	}
}

// flush stores the pending usage, reports it to the limiter, and trims the journal.
func (f *Consumer) flush(ctx context.Context) error {
	if s := &f.unstoredUsage; s.lines > 0 {
		f.unsure = true
		if err := f.o.Limiter.Sync(func() error { return f.count(ctx) }); err != nil {
			return err
		}
		f.counted, f.unsure = s.to, false
		f.note(func(st *Stats) { st.Batches, st.Lines = st.Batches+1, st.Lines+uint64(s.lines) })
		s.empty()
	}
	f.note(func(st *Stats) { st.Read = f.read })
	if err := f.endLate(); err != nil {
		return err
	}
	if !f.serving || f.pending > 0 {
		return nil
	}
	return f.o.Lines.Trim(f.needed())
}

// count stores the pending usage. The limiter gets corrections only through the returned
// meters: it never had what they take back, unless Postpone added it.
func (f *Consumer) count(ctx context.Context) error {
	deltas := f.unstoredUsage.all()
	meters, err := f.o.Store.CountUsage(ctx, f.o.Node, f.o.Clock.Now(), f.counted, f.unstoredUsage.to, deltas)
	if err != nil {
		return err
	}
	if f.stored = len(deltas); !f.serving {
		return nil
	}
	f.o.Limiter.MarkFlushed(f.unstoredUsage.usedTotals().byCounter(), meters)
	if corrected := f.unstoredUsage.corrected(); len(corrected) > 0 && f.o.Corrected != nil {
		f.o.Corrected(corrected, meters)
	}
	return nil
}

// needed returns the position from which the journal is needed: that of the oldest open entry.
func (f *Consumer) needed() record.Position {
	if pos, ok := f.openEntries.Oldest(); ok {
		return record.Position(pos)
	}
	return f.read
}
