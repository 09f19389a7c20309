package spend

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/ledger"
	"sluice/internal/quota"
	"sluice/internal/record"
)

// Postpone takes the place of Recover when the store takes no writes: it has the bank
// remember what the journal knows and the store does not, the bounds of interrupted calls
// included, so that limits hold as if all of it had been stored. Run stores it as soon as
// the store takes writes again; until then Err says why it does not.
//
// Should the store be read from a replica that is behind, some usage counts twice until
// then: a limit refuses too early rather than too late.
func (f *Consumer) Postpone(ctx context.Context) error {
	if !f.located {
		seen, err := f.o.Store.UsageSeen(ctx, f.o.Node)
		if err != nil {
			return fmt.Errorf("read usage progress: %w", err)
		}
		f.counted = seen
	}
	into := &deferredStore{Lines: f.o.Lines, limiter: f.o.Limiter, from: f.counted, orgs: map[string]string{}}
	o := f.o
	o.Lines, o.Store = into, into
	twin := New(o)
	if err := twin.Recover(ctx); err != nil {
		return err
	}
	f.deferredUntil = twin.read.Seq
	f.unstoredUsage.markReported()
	f.note(func(s *Stats) { s.Abandoned += twin.Stats().Abandoned })
	if err := twin.Err(); err != nil {
		f.setFailure(err)
	}
	f.serving = true
	return nil
}

// locate finds out up to where the store counted, which nobody but this node changes.
func (f *Consumer) locate(ctx context.Context) error {
	if f.located {
		return nil
	}
	pos, err := f.o.Store.UsagePosition(ctx, f.o.Node)
	if err != nil {
		return err
	}
	if f.serving {
		f.forgive(f.counted, pos)
	}
	f.counted, f.located = pos, true
	return nil
}

// forgive has the bank forget what it was told between two positions: it was in the store.
func (f *Consumer) forgive(from, to uint64) {
	var pending pendingUsage
	f.o.Lines.Read(record.Position{}, func(pos record.Position, l *ledger.Entry) bool {
		if pos.Seq >= from && pos.Seq < to && counts(pos, l) {
			pending.add(l, true)
		}
		return pos.Seq < to
	})
	f.o.Limiter.MarkFlushed(pending.usedTotals().byCounter(), nil)
}

// counts reports whether the charges of a line count, by itself.
func counts(pos record.Position, l *ledger.Entry) bool {
	if l.State == ledger.Corrected {
		return true
	}
	_, err := new(ledger.OpenEntries).Apply(ledger.Offset(pos), l)
	return err == nil && l.State.Closes() && l.CopyOf == 0
}

// deferredStore is a store that has the bank remember what it is told, and the lines that are read
// for it. Nothing is trimmed.
type deferredStore struct {
	Lines
	limiter Limiter
	from    uint64
	orgs    map[string]string // by carrier
}

// Read is that of the lines, and notes whose their charges are.
func (o *deferredStore) Read(from record.Position, visit func(record.Position, *ledger.Entry) bool) record.Position {
	return o.Lines.Read(from, o.noting(visit))
}

// ReadAt is likewise that of the lines.
func (o *deferredStore) ReadAt(positions []record.Position, visit func(record.Position, *ledger.Entry) bool) {
	o.Lines.ReadAt(positions, o.noting(visit))
}

// Skim is Read: without the rest of a line nobody knows whose its charges are.
func (o *deferredStore) Skim(from record.Position, visit func(record.Position, *ledger.Entry) bool) record.Position {
	return o.Read(from, visit)
}

func (o *deferredStore) noting(visit func(record.Position, *ledger.Entry) bool) func(record.Position, *ledger.Entry) bool {
	return func(pos record.Position, l *ledger.Entry) bool {
		for _, c := range l.AllCharges() {
			o.orgs[c.Subject] = l.OrgID
		}
		return visit(pos, l)
	}
}

// Trim keeps all: nothing is stored.
func (o *deferredStore) Trim(record.Position) error { return nil }

// UsagePosition is from where on the store knows nothing.
func (o *deferredStore) UsagePosition(context.Context, string) (uint64, error) { return o.from, nil }

// UsageSeen is the same.
func (o *deferredStore) UsageSeen(context.Context, string) (uint64, error) { return o.from, nil }

// CountUsage has the bank remember deltas.
func (o *deferredStore) CountUsage(_ context.Context, _ string, _ time.Time, _, _ uint64, deltas []quota.Delta) ([]quota.Meter, error) {
	parts := make([]quota.NodeShare, 0, len(deltas))
	for i := range deltas {
		if d := &deltas[i]; d.Units > 0 { // less does not count before it is stored
			parts = append(parts, quota.NodeShare{Counter: d.CounterID(), Org: o.orgs[d.SubjectID], Used: d.Units})
		}
	}
	o.limiter.AddUnflushed(parts)
	return nil, nil
}
