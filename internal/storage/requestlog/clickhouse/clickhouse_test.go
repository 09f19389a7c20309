package clickhouse_test

import (
	"testing"

	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/requestlog/clickhousetest"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// open opens the log of a node of its own in a database of its own.
func open(t testing.TB, change ...func(*clickhouse.Options)) *clickhouse.DB {
	t.Helper()
	o := clickhouse.Options{Server: clickhousetest.Shared(t).Database(t), Node: ident.NewID()}
	for _, c := range change {
		c(&o)
	}
	return openAt(t, o)
}

func openAt(t testing.TB, o clickhouse.Options) *clickhouse.DB {
	t.Helper()
	db, err := clickhouse.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // never fails
	return db
}

func TestSuite(t *testing.T) {
	t.Parallel()
	requestlogtest.Run(t, func(t testing.TB) requestlog.RowStore { return open(t) })
}
