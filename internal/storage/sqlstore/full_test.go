package sqlstore

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// A disk without room refuses writes as one that is away does, reads go on, health says it,
// and the first write that finds room ends it.
func TestNoRoomToWrite(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	setMaxPages := func(pages int) {
		t.Helper()
		if _, err := s.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	insert := func() error {
		r := resource.Record{Kind: "k", ID: ident.NewID(), Status: "active", Version: 1, Body: bytes.Repeat([]byte(ident.NewSecret(64)), 2000)}
		return s.InTx(t.Context(), func(tx resource.Tx) error { return tx.Insert(t.Context(), r) })
	}
	setMaxPages(1) // SQLite takes what the file has already
	err := insert()
	for err == nil { // until its free pages are used
		err = insert()
	}
	if !fault.Has(err, fault.ReadOnly) {
		t.Errorf("a write: %v", err)
	}
	if h := s.Health(); h.Status != Degraded || !h.Reader || !h.Writer || !strings.HasPrefix(h.Detail, "no space to write since 2") {
		t.Errorf("%+v", h)
	}
	if _, err := s.List(t.Context(), resource.Query{Kind: "k"}); err != nil {
		t.Errorf("a read: %v", err)
	}
	setMaxPages(1 << 20)
	for name, write := range map[string]func() error{
		"a change": insert,
		"a lease":  func() error { _, err := s.TakeLease(t.Context(), "l", "me", time.Minute); return err },
		"what was used": func() error {
			_, err := s.CountUsage(t.Context(), "node", time.Now(), 0, 1, nil)
			return err
		},
	} {
		s.recordWriteBlock(noDiskSpace, err)
		if err := write(); err != nil {
			t.Errorf("%s with room: %v", name, err)
		}
		if h := s.Health(); h.Status != OK {
			t.Errorf("behind %s with room: %+v", name, h)
		}
	}
}
