package app

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/app/options"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

const (
	firstKey  = "the first key of a deployment"
	secondKey = "the second key of a deployment"
)

// The sealing key of a database on a server is rotated from wherever that can be reached.
func TestRotateWithoutADataDirectory(t *testing.T) {
	t.Parallel()
	endpoint := storetest.Postgres(t).Writer
	quiet, s := slog.New(slog.DiscardHandler), freshSettings(t)
	s.Database = config.Database{Type: config.Postgres, Host: endpoint.Host, Port: endpoint.Port, User: endpoint.User, Pass: endpoint.Pass, Name: endpoint.Name, SSL: "DISABLED"}
	s.Security.EncryptionKey = sealed.New(firstKey)
	found := func(a *database) error { return a.foundDeployment(t.Context()) }
	if err := offline(t.Context(), s, quiet, found); err != nil {
		t.Fatal(err)
	}
	s.Data.Dir = filepath.Join(t.TempDir(), "elsewhere")
	s.Security.EncryptionKey = sealed.New(secondKey + "," + firstKey)
	leases, err := sqlstore.Open(t.Context(), options.Store(s), quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = leases.Close() }()
	if acquired, err := leases.TakeLease(t.Context(), "worker", "node-7, process 12", time.Hour); err != nil || !acquired {
		t.Fatal(acquired, err)
	}
	if n, err := RotateSealing(t.Context(), s, quiet, false); err == nil || n != 0 || !strings.Contains(err.Error(), "a gateway runs on this database (node-7, process 12)") {
		t.Fatalf("beside a gateway: %d records, %v", n, err)
	}
	if n, err := RotateSealing(t.Context(), s, quiet, true); err != nil || n == 0 {
		t.Fatalf("%d records, %v", n, err)
	}
	if err := leases.ReleaseLease(t.Context(), "worker", "node-7, process 12"); err != nil {
		t.Fatal(err)
	}
	s.Security.EncryptionKey = sealed.New(firstKey + "," + secondKey)
	if n, err := RotateSealing(t.Context(), s, quiet, false); err != nil || n == 0 {
		t.Fatalf("and back: %d records, %v", n, err)
	}
	if holder, err := leases.LeaseHolder(t.Context(), "worker"); holder != "" || err != nil {
		t.Errorf("%q still has the lease, %v", holder, err)
	}
	s.Security.EncryptionKey = sealed.New(secondKey + "," + firstKey)
	if n, err := RotateSealing(t.Context(), s, quiet, false); err != nil || n == 0 {
		t.Fatalf("%d records, %v", n, err)
	}
	s.Security.EncryptionKey = sealed.New(secondKey)
	if err := offline(t.Context(), s, quiet, found); err != nil {
		t.Errorf("under the new key alone: %v", err)
	}
}

// A directory without a database is not the one that was meant, and nothing is made there.
func TestRotateWithoutADatabase(t *testing.T) {
	t.Parallel()
	s := freshSettings(t)
	s.Security.EncryptionKey = sealed.New(secondKey + "," + firstKey)
	if _, err := RotateSealing(t.Context(), s, slog.New(slog.DiscardHandler), false); err == nil || !strings.Contains(err.Error(), "DATA_DIR") {
		t.Error(err)
	}
	if _, err := os.Stat(s.Data.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it made the directory: %v", err)
	}
}

// A gateway that was killed does not hold up the rotation of its file: the lock of the data
// directory tells that it is gone, whoever has the lease.
func TestRotateBehindAGatewayThatWasKilled(t *testing.T) {
	t.Parallel()
	quiet, s := slog.New(slog.DiscardHandler), freshSettings(t)
	err := offline(t.Context(), s, quiet, func(a *database) error {
		_, err := a.store.TakeLease(t.Context(), "worker", "the one that was killed", time.Hour)
		return errors.Join(err, a.foundDeployment(t.Context()))
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := RotateSealing(t.Context(), s, quiet, false); err != nil || n == 0 {
		t.Errorf("%d records, %v", n, err)
	}
}
