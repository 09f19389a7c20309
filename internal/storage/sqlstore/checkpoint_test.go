package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
)

// enlarge makes the log of a database longer than is left alone.
func enlarge(t *testing.T, s *Store) {
	t.Helper()
	body := bytes.Repeat([]byte("x"), MaxBodyBytes) // as many pages as the log has at least
	err := s.InTx(t.Context(), func(tx resource.Tx) error {
		return tx.Insert(t.Context(), resource.Record{Kind: "k", ID: ident.NewID(), Status: "active", Body: body})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A long log is moved into the file without the writer, who meanwhile has a transaction
// open; what somebody still reads older pages of waits for them.
func TestLogIsShortened(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	enlarge(t, s)
	size := s.fileSize(t)
	err := s.InTx(t.Context(), func(tx resource.Tx) error {
		if err := tx.Insert(t.Context(), resource.Record{Kind: "k", ID: ident.NewID(), Status: "active", Body: []byte("{}")}); err != nil {
			return err
		}
		if now := s.fileSize(t); now != size || now >= MaxBodyBytes {
			t.Errorf("the file has %d bytes: the writer moved the log", now)
		}
		left, err := checkpointWAL(t.Context(), s.read.db)
		if now := s.fileSize(t); left != 0 || now < MaxBodyBytes {
			t.Errorf("%d pages stay in the log, and the file has %d bytes", left, now)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	old, err := s.read.db.QueryContext(t.Context(), "SELECT id FROM records") // of which the second is not read yet
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	old.Next()
	enlarge(t, s)
	if left, err := checkpointWAL(t.Context(), s.read.db); err != nil || left < logPages {
		t.Errorf("%d pages stay in the log, %v, while an older state is read", left, err)
	}
	if err := errors.Join(old.Err(), old.Close()); err != nil {
		t.Fatal(err)
	}
	if left, err := checkpointWAL(t.Context(), s.read.db); err != nil || left != 0 {
		t.Errorf("%d pages stay in the log, %v", left, err)
	}
}

// fileSize is how large the file of the database is, without its log.
func (s *Store) fileSize(t *testing.T) int64 {
	t.Helper()
	var seq, name, path string
	if err := s.read.db.QueryRowContext(t.Context(), "PRAGMA database_list").Scan(&seq, &name, &path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Who waits for the writer may leave, and whoever comes later still gets it.
func TestWriterIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	nothing := func(resource.Tx) error { return nil }
	err := s.InTx(t.Context(), func(resource.Tx) error {
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.InTx(gone, nothing); !errors.Is(err, context.Canceled) {
			t.Errorf("who left got %v", err)
		}
		return nil
	})
	if err == nil {
		err = s.InTx(t.Context(), nothing)
	}
	if err != nil {
		t.Error(err)
	}
}
