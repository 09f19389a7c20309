package sqlstore_test

import (
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore/storetest"
)

// BenchmarkCountUsage stores what 20,000 budgets used at ten instants each.
func BenchmarkCountUsage(b *testing.B) {
	const meters = 20_000
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, settings := range engines {
		b.Run(name, func(b *testing.B) {
			s := storetest.Open(b, settings(b))
			var deltas []quota.Delta
			for range meters {
				d := quota.Delta{SubjectID: ident.NewID(), BudgetKey: ident.NewID(), Units: 10, UsedAt: now}
				for i := range int64(10) {
					d.Runs = append(d.Runs, quota.Run{UsedAtMS: now.UnixMilli() - i, Units: 1})
				}
				deltas = append(deltas, d)
			}
			err := s.InTx(b.Context(), func(tx resource.Tx) (err error) {
				for i := 0; i < meters && err == nil; i++ {
					err = s.AddMeter(b.Context(), tx, quota.Meter{Subject: quota.Subject{Kind: "api_key", ID: deltas[i].SubjectID, OrgID: "o", WorkspaceID: "w"}, BudgetKey: deltas[i].BudgetKey, Limit: 1 << 60})
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			position := uint64(0)
			for b.Loop() {
				if _, err := s.CountUsage(b.Context(), "node", now, position, position+1, deltas); err != nil {
					b.Fatal(err)
				}
				position++
			}
		})
	}
}
