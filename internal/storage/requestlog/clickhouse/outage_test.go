package clickhouse_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/requestlog/clickhouse/client"
	"sluice/internal/storage/requestlog/clickhousetest"
)

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// A server that is away when a node starts, and goes away while it runs, costs no record:
// they wait in the journal, health says so, and are taken over when it is back.
func TestServerGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	server := clickhousetest.Start(t)
	dir := t.TempDir()
	j, err := journal.Open(journal.Options{Dir: filepath.Join(dir, "journal"), SegmentBytes: 1 << 20, MaxRecordBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	files, err := bodies.Open(bodies.Options{Dir: filepath.Join(dir, "bodies"), Node: j.ID()})
	if err != nil {
		t.Fatal(err)
	}
	address := client.Server{URL: server.URL, User: clickhousetest.User, Password: sealed.New(clickhousetest.Password), Database: "log"}
	server.Kill()
	db := openAt(t, clickhouse.Options{Server: address, Node: j.ID()})
	store := requestlog.New(j.Records(), db, files, requestlog.Options{Interval: time.Millisecond, Node: j.ID()})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- store.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, files.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	n := 0
	add := func() {
		t.Helper()
		for range 20 {
			if err := j.Append(recordtest.Chat(n)); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	count := func() int64 {
		page, err := store.List(t.Context(), record.Query{OrgID: recordtest.Org, Count: true})
		if err != nil {
			return -1
		}
		return page.Total
	}
	for round := range 2 {
		add()
		eventually(t, "health says that the log cannot be written", func() bool { return store.Err() != nil })
		if _, err := store.List(t.Context(), record.Query{OrgID: recordtest.Org}); !fault.Has(err, fault.Overloaded) {
			t.Errorf("round %d: asked while the server is away: %v, want overloaded", round, err)
		}
		if lag := j.Stats().Lag; lag < 20 {
			t.Errorf("round %d: %d entries wait in the journal, want 20", round, lag)
		}
		server.Restart(t)
		eventually(t, "all records are in the log", func() bool { return count() == int64(n) })
		eventually(t, "health is well", func() bool { return store.Err() == nil })
		add()
		eventually(t, "all records are in the log", func() bool { return count() == int64(n) })
		server.Kill()
	}
	server.Restart(t) // for what Run does last
}
