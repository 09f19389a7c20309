package spend

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// Postpone replaces Recover when the store cannot be written. It reports to the limiter all
// usage that is in the journal and not in the store, including the maximum cost of interrupted
// calls, so that limits apply as if it had been stored. Run stores it as soon as the store can
// be written again; until then Err returns the reason.
//
// If the store is read from a replica that lags, some usage counts twice until then: a limit
// rejects too early rather than too late.
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

// locate reads the position up to which the store counted. Only this node changes it.
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

// forgive removes from the limiter the usage between two positions, which was already in the
// store.
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

// counts reports whether the charges of an entry count on their own, without the entries
// before it.
func counts(pos record.Position, l *ledger.Entry) bool {
	if l.State == ledger.Corrected {
		return true
	}
	_, err := new(ledger.OpenEntries).Apply(ledger.Offset(pos), l)
	return err == nil && l.State.Closes() && l.CopyOf == 0
}

// deferredStore is a Store that adds usage to the limiter instead, and the Lines that are read
// for it. It trims nothing.
type deferredStore struct {
	Lines
	limiter Limiter
	from    uint64
	orgs    map[string]string // by subject
}

// Read calls Lines.Read and records the organisation of each charge.
func (o *deferredStore) Read(from record.Position, visit func(record.Position, *ledger.Entry) bool) record.Position {
	return o.Lines.Read(from, o.noting(visit))
}

// ReadAt calls Lines.ReadAt and records the organisation of each charge.
func (o *deferredStore) ReadAt(positions []record.Position, visit func(record.Position, *ledger.Entry) bool) {
	o.Lines.ReadAt(positions, o.noting(visit))
}

// Skim is Read: the organisation of the charges is needed too.
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

// Trim deletes nothing, because nothing is stored.
func (o *deferredStore) Trim(record.Position) error { return nil }

// UsagePosition returns the position after which the store contains nothing.
func (o *deferredStore) UsagePosition(context.Context, string) (uint64, error) { return o.from, nil }

// UsageSeen returns the same position.
func (o *deferredStore) UsageSeen(context.Context, string) (uint64, error) { return o.from, nil }

// CountUsage adds deltas to the limiter.
func (o *deferredStore) CountUsage(_ context.Context, _ string, _ time.Time, _, _ uint64, deltas []quota.Delta) ([]quota.Meter, error) {
	parts := make([]quota.NodeShare, 0, len(deltas))
	for i := range deltas {
		if d := &deltas[i]; d.Units > 0 { // negative usage does not count before it is stored
			parts = append(parts, quota.NodeShare{Counter: d.CounterID(), Org: o.orgs[d.SubjectID], Used: d.Units})
		}
	}
	o.limiter.AddUnflushed(parts)
	return nil, nil
}
