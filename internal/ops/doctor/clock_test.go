package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// The clock is compared with what is at hand, and what differs is named.
func TestDoctorOfTheClock(t *testing.T) {
	t.Parallel()
	d := Deployment{Dir: t.TempDir(), Database: sqlstore.Settings{Engine: sqlstore.SQLite}}
	file := filepath.Join(d.Dir, "journal", "1.wal")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shifted := func(by time.Duration) func() time.Time {
		return func() time.Time { return time.Now().Add(by) }
	}
	c := Clock{&d}
	wants(t, marked(c.check(t.Context(), time.Now)), "the time is 2", "later than the files in DATA_DIR")
	wants(t, marked(c.check(t.Context(), shifted(-time.Hour))), "FAIL the time is 2", "but "+file+" was written at 2", "set the clock")
	wants(t, marked(c.check(t.Context(), shifted(-20*365*24*time.Hour))), "FAIL the time is 2", "before this program was built (202")

	d.Database = storetest.Postgres(t)
	if f := d.checkDatabase(t.Context()); f.Err != nil {
		t.Fatal(f.Err)
	}
	defer func() { _ = d.Close() }()
	wants(t, marked(c.check(t.Context(), time.Now)), "the time is 2", "which matches the database server")
	wants(t, marked(c.check(t.Context(), shifted(time.Hour))), "FAIL the time is 2", "but the database server's clock is 2", "correct the wrong clock")
}
