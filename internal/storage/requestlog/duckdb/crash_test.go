package duckdb_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/journal/killtest"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/duckdb"
)

func TestMain(m *testing.M) {
	killtest.Child(appendUntilKilled)
	os.Exit(m.Run())
}

// node is a journal and the log store that follows it.
type node struct {
	journal *journal.Journal
	db      *duckdb.DB
	files   *bodies.Files
	store   *requestlog.Store
}

// startNode opens a node whose files and batches are so small that a kill meets
// every step of a batch.
func startNode(ctx context.Context, dir string) (*node, error) {
	n := new(node)
	var err error
	n.journal, err = journal.Open(journal.Options{Dir: filepath.Join(dir, "journal"), SegmentBytes: 256 << 10, MaxRecordBytes: 64 << 10})
	if err != nil {
		return nil, err
	}
	n.db, err = duckdb.Open(ctx, duckdb.Options{Path: filepath.Join(dir, "logs.duckdb"), MemoryMB: 128, ExactBelow: -1})
	if err != nil {
		return nil, err
	}
	n.files, err = bodies.Open(bodies.Options{Dir: filepath.Join(dir, "bodies"), BlockBytes: 16 << 10, FileBytes: 64 << 10})
	if err != nil {
		return nil, err
	}
	n.store = requestlog.New(n.journal.Records(), n.db, n.files, requestlog.Options{Interval: time.Millisecond, BatchSize: 40})
	return n, nil
}

func (n *node) close() error { return errors.Join(n.db.Close(), n.files.Close(), n.journal.Close()) }

// appendUntilKilled is the child: it appends, acknowledges each number once Append
// has returned, and moves records to the log store all the while.
func appendUntilKilled(dir string, from int64) {
	n, err := startNode(context.Background(), dir)
	if err != nil {
		panic(err)
	}
	go func() { panic(n.journal.Run(context.Background())) }()
	go func() { panic(n.store.Run(context.Background())) }()
	go func() {
		for { // sums are worked out of rows that still come, and so lost and made again
			if err := n.db.Roll(context.Background(), recordtest.Epoch.Add(10*365*24*time.Hour)); err != nil {
				panic(err)
			}
		}
	}()
	var next atomic.Int64
	next.Store(from)
	for range 2 {
		go func() {
			for {
				for n.journal.Stats().Lag > 200 { // kills are to meet batches, not a backlog
					time.Sleep(100 * time.Microsecond)
				}
				i := next.Add(1)
				if err := n.journal.Append(recordtest.Chat(int(i))); err != nil {
					panic(err)
				}
				killtest.Acknowledge(i)
			}
		}()
	}
	select {}
}

// Killed at any instant, the log has every record whose Append returned, once,
// with its bodies.
func TestKillNeitherLosesNorDoubles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var acked []int
	for round := range 8 {
		acked = append(acked, killtest.Acknowledged(t, dir, round*1_000_000, 1+rand.IntN(1500))...)
	}
	n, err := startNode(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := n.db.Progress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Run takes over what is left and returns
	if err := n.store.Run(ctx); err != nil {
		t.Fatal(err)
	}
	rows := all(t, n.store)
	times := map[string]int{}
	for _, id := range rows {
		times[id]++
		if times[id] > 1 {
			t.Fatalf("%s is in the log twice", id)
		}
	}
	for i, number := range acked {
		chat := recordtest.Chat(number)
		if times[chat.ID] != 1 {
			t.Fatalf("record %d is not in the log", number)
		}
		if i%50 == 0 {
			checkBodies(t, n.store, chat)
		}
	}
	checkRollups(t, n)
	t.Logf("%d acknowledged, %d in the log, %d of them since the last start; position at start %d",
		len(acked), len(rows), n.store.Stats().Records, before.Next.Seq)
	if err := n.close(); err != nil {
		t.Error(err)
	}
}

// checkRollups compares what sums say, those that the kills left and those made of them since,
// with the rows.
func checkRollups(t *testing.T, n *node) {
	t.Helper()
	far := recordtest.Epoch.Add(10 * 365 * 24 * time.Hour)
	question := record.Analysis{
		Query: record.Query{OrgID: recordtest.Org, From: recordtest.Epoch.Add(-7 * 24 * time.Hour), To: far}, By: record.ByModel,
		Metrics: record.MetricErrors | record.MetricCost | record.MetricTokens | record.MetricLatency | record.MetricSeen,
	}
	rows := question
	rows.Query.Total = record.Range{Min: new(int64(-1))} // which no sums answer
	for _, when := range []string{"after the kills", "worked out again"} {
		want, err1 := n.db.Analyse(t.Context(), rows)
		got, err2 := n.db.Analyse(t.Context(), question)
		if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v (-rows +sums):\n%s", when, err1, err2, diff)
		}
		if err := n.db.Roll(t.Context(), far); err != nil {
			t.Fatal(err)
		}
	}
}

// all returns the ids of the whole log.
func all(t *testing.T, s *requestlog.Store) (ids []string) {
	t.Helper()
	q := record.Query{OrgID: recordtest.Org, Limit: record.MaxLimit}
	for {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Rows {
			ids = append(ids, page.Rows[i].ID)
		}
		if q.After = page.Next; q.After == "" {
			return ids
		}
	}
}

func checkBodies(t *testing.T, s *requestlog.Store, want *record.Attempt) {
	t.Helper()
	got, err := s.Find(t.Context(), recordtest.Org, "", want.ID)
	if err != nil || !bytes.Equal(got.Request.Bytes, want.Request.Bytes) || !bytes.Equal(got.Response.Bytes, want.Response.Bytes) {
		t.Errorf("%s: bodies %q and %q, %v", want.ID, got.Request.Bytes, got.Response.Bytes, err)
	}
}
