package audit_test

import (
	"bytes"
	"testing"
	"time"

	"sluice/internal/domain/audit"
)

// BenchmarkVerify reads an export of 1000 rows. What it allocates goes with the
// lines, not with the file: see the figure per row.
func BenchmarkVerify(b *testing.B) {
	const rows = 1000
	r := newRig(b, audit.Policy{Rows: 100, Interval: time.Hour})
	r.add(org, rows)
	r.sign(b)
	file := r.export(b, org, audit.Range{})
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := audit.Verify(bytes.NewReader(file), r.signer.Public(), audit.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/rows, "µs/row")
}
