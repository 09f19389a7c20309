package storetest

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/storage/sqlstore"
)

func leases(t *testing.T, s *sqlstore.Store) {
	name := kind(t)
	take := func(holder string, ttl time.Duration, want bool) {
		t.Helper()
		got, err := s.TakeLease(t.Context(), name, holder, ttl)
		must(t, err)
		if got != want {
			t.Errorf("%s takes the lease: %v, want %v", holder, got, want)
		}
	}
	held := func(want string) {
		t.Helper()
		holder, err := s.LeaseHolder(t.Context(), name)
		must(t, err)
		if holder != want {
			t.Errorf("%q has the lease, want %q", holder, want)
		}
	}
	held("")
	take("node-1", time.Hour, true)
	held("node-1")
	take("node-2", time.Hour, false)
	take("node-1", time.Hour, true) // renewed
	must(t, s.ReleaseLease(t.Context(), name, "node-2"))
	take("node-2", time.Hour, false) // it was not theirs to give back
	must(t, s.ReleaseLease(t.Context(), name, "node-1"))
	held("")
	take("node-2", -time.Second, true)
	held("")
	take("node-3", time.Hour, true) // the one of node-2 has run out
	_, err := s.TakeLease(t.Context(), name, strings.Repeat("n", 256), time.Hour)
	wantCode(t, "a holder too long", err, fault.InvalidRequest)
}

func leaseRace(t *testing.T, s *sqlstore.Store) {
	name := kind(t)
	type result struct {
		got bool
		err error
	}
	results := make(chan result, 10)
	for i := range cap(results) {
		go func() {
			got, err := s.TakeLease(t.Context(), name, "node-"+strconv.Itoa(i), time.Hour)
			results <- result{got, err}
		}()
	}
	held := 0
	for range cap(results) {
		r := <-results
		must(t, r.err)
		if r.got {
			held++
		}
	}
	if held != 1 {
		t.Errorf("%d nodes hold the lease", held)
	}
}

// Migrations lets ten instances open and migrate one empty database at once, and
// once more afterwards, when there is nothing left to do.
func Migrations(t *testing.T, s sqlstore.Settings) {
	s.PoolSize = 2
	for range 2 {
		errs := make(chan error, 10)
		for range cap(errs) {
			go func() {
				st, err := sqlstore.Open(t.Context(), s, slog.New(slog.DiscardHandler))
				if err != nil {
					errs <- err
					return
				}
				if err = st.Migrate(t.Context()); err == nil {
					_, err = st.LastChange(t.Context())
				}
				errs <- errors.Join(err, st.Close())
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
	st := Open(t, s)
	put(t, st, sample("config", "a"))
	if n, err := st.LastChange(t.Context()); err != nil || n != 1 {
		t.Errorf("the first change has the number %d, %v", n, err)
	}
}

// LeftLease starts on a database where a process died with the lease of the migration:
// it goes on at once where nothing is to be done, and keeps off where something is.
func LeftLease(t *testing.T, s sqlstore.Settings) {
	st := Open(t, s)
	took, err := st.TakeLease(t.Context(), "migrate", "dead", time.Hour)
	must(t, err)
	if !took {
		t.Fatal("the lease was not given back")
	}
	hang, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, st.Migrate(hang))

	must(t, alter(t, s, "DELETE FROM "+table(s, "schema_steps")+" WHERE version_id > 30"))
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := st.Migrate(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a step is to be done, and another process has the lease: %v", err)
	}
}

// NewerTables starts on a database that a later version has brought up to date: that is
// refused, and what is running goes on.
func NewerTables(t *testing.T, s sqlstore.Settings) {
	running := Open(t, s)
	MarkNewer(t, s)
	starting, err := sqlstore.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	must(t, err)
	defer func() { must(t, starting.Close()) }()
	err = starting.Migrate(t.Context())
	if !errors.Is(err, sqlstore.ErrNewer) || !strings.Contains(err.Error(), "at step 999") {
		t.Errorf("an older version starts: %v", err)
	}
	put(t, running, sample("config", "a"))

	must(t, alter(t, s, "UPDATE "+table(s, "schema_steps")+" SET version_id = 0 WHERE version_id = 999"))
	must(t, starting.Migrate(t.Context()))
}

// MarkNewer has a database say that a later version has brought it up to date, in the line
// that the ledger of its steps begins with.
func MarkNewer(t *testing.T, s sqlstore.Settings) {
	t.Helper()
	must(t, alter(t, s, "UPDATE "+table(s, "schema_steps")+" SET version_id = 999 WHERE version_id = 0"))
}
