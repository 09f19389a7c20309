package duckdb_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/duckdb"
)

// BenchmarkIngest moves chats, bodies included, from the journal to the log store
// in full batches. cpu-ns is processor time of the whole process for one record.
func BenchmarkIngest(b *testing.B) {
	dir := b.TempDir()
	j, err := journal.Open(journal.Options{Dir: filepath.Join(dir, "journal"), MaxBytes: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	db, err := duckdb.Open(b.Context(), duckdb.Options{Path: filepath.Join(dir, "logs.duckdb")})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	files, err := bodies.Open(bodies.Options{Dir: filepath.Join(dir, "bodies")})
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		if err := j.Append(recordtest.Chat(i)); err != nil {
			b.Fatal(err)
		}
	}
	s := requestlog.New(j.Records(), db, files, requestlog.Options{Interval: time.Millisecond})
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	go s.Run(b.Context())
	for s.Stats().Records < uint64(b.N) {
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func cpu(b testing.TB) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
