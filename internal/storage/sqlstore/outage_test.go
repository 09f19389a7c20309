package sqlstore_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// recovery bounds how long a store may take to notice that a server came or went.
const recovery = time.Minute

// running watches a store until the test ends.
func running(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

// eventually polls until ok, for things that another process does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(recovery); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, recovery)
		}
	}
}

func insert(t testing.TB, s *sqlstore.Store) (id string, err error) {
	t.Helper()
	r := resource.Record{Kind: "config", ID: ident.NewID(), Status: "active", Body: []byte(`{}`)}
	return r.ID, s.InTx(t.Context(), func(tx resource.Tx) error { return tx.Insert(t.Context(), r) })
}

// A real primary stops and comes back under reads from its replica.
func TestWriterOutage(t *testing.T) {
	t.Parallel()
	primary := storetest.StartPostgres(t, nil)
	settings := primary.Settings(t)
	replica := primary.Standby(t)
	settings.Reader = sqlstore.Endpoint{Port: replica.Endpoint.Port}
	settings.HADR = true
	s := storetest.Open(t, settings)
	running(t, s)
	id, err := insert(t, s)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the replica follows", func() bool { _, err := s.Find(t.Context(), "config", id); return err == nil })

	var reads, failed atomic.Int64
	readCtx, stopReads := context.WithCancel(t.Context())
	readsEnded := make(chan struct{})
	go func() {
		defer close(readsEnded)
		for readCtx.Err() == nil {
			if _, err := s.Find(readCtx, "config", id); err != nil && readCtx.Err() == nil {
				failed.Add(1)
			}
			reads.Add(1)
		}
	}()

	primary.Stop()
	if _, err := insert(t, s); !fault.Has(err, fault.ReadOnly) {
		t.Errorf("write without a primary: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end() // the answer comes without asking the server, for which there is no time
	if err := s.InTx(ended, func(resource.Tx) error { return nil }); !fault.Has(err, fault.ReadOnly) {
		t.Errorf("second write: %v", err)
	}
	if h := s.Health(); h.Status != sqlstore.Degraded || h.Writer || !h.Reader || h.Detail == "" {
		t.Errorf("health without a primary: %+v", h)
	}
	if err := s.SaveResponse(t.Context(), "w", "resp_gw1", time.Now().Add(time.Hour), []byte("[]"), []byte("{}")); !fault.Has(err, fault.ReadOnly) {
		t.Errorf("store a response without a primary: %v", err)
	}
	if _, _, err := s.FindResponse(t.Context(), "w", "resp_gw1", time.Now()); !fault.Has(err, fault.NotFound) {
		t.Errorf("find a response without a primary: %v", err)
	}
	if _, err := s.FreshMeters(t.Context(), quota.MeterQuery{}); err != nil {
		t.Errorf("read meters without a primary: %v", err)
	}
	if _, err := s.TakeLease(t.Context(), "job", "node-1", time.Minute); !fault.Has(err, fault.ReadOnly) {
		t.Errorf("lease without a primary: %v", err)
	}
	startWithoutWriter(t, settings, id)

	primary.Start(t)
	var later string
	eventually(t, "writes go on", func() bool { later, err = insert(t, s); return err == nil })
	eventually(t, "health is ok", func() bool { return s.Health().Status == sqlstore.OK })
	eventually(t, "the replica follows again", func() bool { _, err := s.Find(t.Context(), "config", later); return err == nil })
	stopReads()
	<-readsEnded
	if failed.Load() != 0 || reads.Load() == 0 {
		t.Errorf("%d of %d reads failed", failed.Load(), reads.Load())
	}
	writerIsReplica(t, settings)
}

// startWithoutWriter opens a second store while the primary is away.
func startWithoutWriter(t *testing.T, settings sqlstore.Settings, id string) {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("start without a primary: %v", err)
	}
	defer s.Close()
	if err := s.Migrate(t.Context()); !fault.Has(err, fault.ReadOnly) {
		t.Errorf("migrate without a primary: %v", err)
	}
	if _, err := s.Find(t.Context(), "config", id); err != nil {
		t.Errorf("read without a primary: %v", err)
	}
	settings.HADR = false
	if s, err := sqlstore.Open(t.Context(), settings, slog.New(slog.DiscardHandler)); err == nil {
		s.Close()
		t.Error("outside of HADR mode the start went on without a primary")
	}
}

// A later version is noticed at the replica, too: the start does not go on without it.
func TestNewerTablesWithoutAWriter(t *testing.T) {
	t.Parallel()
	primary := storetest.StartPostgres(t, nil)
	settings := primary.Settings(t)
	settings.Reader = sqlstore.Endpoint{Port: primary.Standby(t).Endpoint.Port}
	settings.HADR = true
	before := storetest.Open(t, settings)
	storetest.MarkNewer(t, settings)
	if _, err := insert(t, before); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the replica follows", func() bool { n, err := before.LastChange(t.Context()); return err == nil && n == 1 })
	primary.Stop()
	s, err := sqlstore.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(t.Context()); !errors.Is(err, sqlstore.ErrNewer) {
		t.Errorf("an older version starts: %v", err)
	}
	primary.Start(t) // for what is dropped at the end
}

// writerIsReplica points the writer at a server that only reads, as happens after
// a failover.
func writerIsReplica(t *testing.T, settings sqlstore.Settings) {
	t.Helper()
	settings.Writer.Port = settings.Reader.Port
	s, err := sqlstore.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if h := s.Health(); h.Status != sqlstore.Degraded {
		t.Errorf("health on a replica: %+v", h)
	}
	settings.HADR = false
	if s, err := sqlstore.Open(t.Context(), settings, slog.New(slog.DiscardHandler)); err == nil {
		s.Close()
		t.Error("a replica was taken for a writer")
	}
}

// Without a reader of its own the one server is both: it goes, and it comes back.
func TestServerOutage(t *testing.T) {
	t.Parallel()
	server := storetest.StartMariaDB(t, nil)
	for _, hadr := range []bool{true, false} {
		settings := server.Settings(t)
		settings.HADR = hadr
		s := storetest.Open(t, settings)
		running(t, s)
		id, err := insert(t, s)
		if err != nil {
			t.Fatal(err)
		}
		server.Stop()
		if _, err := insert(t, s); !fault.Has(err, fault.ReadOnly) {
			t.Errorf("write without a server: %v", err)
		}
		if _, err := s.Find(t.Context(), "config", id); !fault.Has(err, fault.Overloaded) {
			t.Errorf("read without a server: %v", err)
		}
		eventually(t, "health is down", func() bool { h := s.Health(); return h.Status == sqlstore.Down && !h.Reader })
		server.Start(t)
		eventually(t, "writes go on", func() bool { _, err := insert(t, s); return err == nil })
		eventually(t, "health is ok", func() bool { return s.Health() == sqlstore.Health{Status: sqlstore.OK, Writer: true, Reader: true} })
		if _, err := s.Find(t.Context(), "config", id); err != nil {
			t.Errorf("read after the outage: %v", err)
		}
	}
}

// A server whose transactions are made read-only, as services do that run out of disk, is
// away until they are not, and not back in between for whoever asks.
func TestReadOnlyTransactions(t *testing.T) {
	t.Parallel()
	server := storetest.StartPostgres(t, nil)
	settings := server.Settings(t)
	s := storetest.Open(t, settings)
	running(t, s)
	alter := "ALTER DATABASE " + settings.Writer.Name + " SET default_transaction_read_only = "
	server.Admin(t, alter+"on")
	_, err := sqlstore.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "the server accepts no writes") {
		t.Errorf("opened: %v", err)
	}
	server.Admin(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice'") // others would write on
	eventually(t, "the writer is away", func() bool { return !s.Health().Writer })
	if _, err := insert(t, s); !fault.Has(err, fault.ReadOnly) {
		t.Errorf("a write: %v", err)
	}
	server.Admin(t, alter+"off")
	eventually(t, "the writer is back", func() bool { _, err := insert(t, s); return err == nil && s.Health().Writer })
}
