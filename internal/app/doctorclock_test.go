package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/config"
	"sluice/internal/store/storetest"
)

// The clock is compared with what is at hand, and what differs is named.
func TestDoctorOfTheClock(t *testing.T) {
	t.Parallel()
	s := freshSettings(t)
	file := filepath.Join(s.Data.Dir, "journal", "1.wal")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shifted := func(by time.Duration) func() time.Time {
		return func() time.Time { return time.Now().Add(by) }
	}
	var d stored
	wants(t, marked(d.clockAt(t.Context(), s, time.Now)), "the time is 2", "later than the files in DATA_DIR")
	wants(t, marked(d.clockAt(t.Context(), s, shifted(-time.Hour))), "FAIL the time is 2", "but "+file+" was written at 2", "set the clock")
	wants(t, marked(d.clockAt(t.Context(), s, shifted(-20*365*24*time.Hour))), "FAIL the time is 2", "before this program was built (202")

	endpoint := storetest.Postgres(t).Writer
	s.Database = config.Database{Type: config.Postgres, Host: endpoint.Host, Port: endpoint.Port, User: endpoint.User, Pass: endpoint.Pass, Name: endpoint.Name, SSL: "DISABLED", PoolSize: 2}
	if f := d.checkDatabase(t.Context(), s, discard); f.Err != nil {
		t.Fatal(f.Err)
	}
	defer func() { _ = d.Close() }()
	wants(t, marked(d.clockAt(t.Context(), s, time.Now)), "the time is 2", "which matches the database server")
	wants(t, marked(d.clockAt(t.Context(), s, shifted(time.Hour))), "FAIL the time is 2", "but the database server's clock is 2", "correct the wrong clock")
}
