package spend

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/background"
	"sluice/internal/fault"
	"sluice/internal/ledger"
	"sluice/internal/record"
)

// Run stores sums until ctx ends, then those that are left, for at most five seconds. It
// sleeps while nothing is appended. Failures are logged and the same sums are stored
// again, after a pause that grows to 30 seconds; the error is that of the last seconds.
// What those do not suffice for waits in the journal for the next start.
func (f *Consumer) Run(ctx context.Context) error {
	background.RunWithBackoff(ctx, f.follow, func() uint64 { return f.Stats().Batches }, func(err error, pause time.Duration) {
		f.outage.Failed(err, "retry", pause)
	})
	if err := background.RunFinal(ctx, f.catchUp); err != nil {
		return fmt.Errorf("store last usage: %w", err)
	}
	return nil
}

// follow sums lines as they come and stores the sums when these have waited, until something
// fails or ctx ends.
func (f *Consumer) follow(ctx context.Context) error {
	if err := f.catchUp(ctx); err != nil { // what failed before
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

// manyMeters is what a transaction adds to in passing. Behind one that had more, sums wait
// for more company, up to longestPause times as long: each meter costs the same to store
// whether one call used it or a hundred. The lines are kept in the journal meanwhile, whose
// files are used again only behind it, but are read at once, while they are in memory.
const (
	manyMeters   = 2000
	longestPause = 16
)

// pause is how long sums wait.
func (f *Consumer) pause() time.Duration {
	return f.o.Interval * time.Duration(min(1+f.stored/manyMeters, longestPause))
}

// catchUp reads and stores until there is no more.
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

// fill reads lines into the sums; full says that there may be more than they take. Sums that
// the store may have, because it is not known whether it kept them, stay as they are: it
// knows them again.
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

// noteTaken adds to the figures what take found.
func (f *Consumer) noteTaken(st *Stats) {
	f.note(func(s *Stats) {
		s.Unreserved, s.Malformed, s.Open = s.Unreserved+st.Unreserved, s.Malformed+st.Malformed, f.openEntries.Len()
		s.Corrected += st.Corrected
	})
}

// take brings one line into the book, and its charges into the sums when it is closed
// and not counted yet. A correction was never open: it has no place in the book.
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

// flush stores the sums, tells the bank, and lets go of what the journal need not keep.
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

// count stores the sums. The bank learns of corrections by the meters as they are then:
// it never had what they take back, unless Postpone told it.
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

// needed is from where the journal must be kept: from the oldest open line on.
func (f *Consumer) needed() record.Position {
	if pos, ok := f.openEntries.Oldest(); ok {
		return record.Position(pos)
	}
	return f.read
}
