package clickhouse_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/journal/killtest"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/requestlog/clickhouse/client"
	"sluice/internal/storage/requestlog/clickhousetest"
)

// killed is a journal and the log store that follows it, in a process that is killed.
type killed struct {
	journal *journal.Journal
	db      *clickhouse.DB
	files   *bodies.Files
	store   *requestlog.Store
}

// serverFile tells a child where the server is.
const serverFile = "server.json"

// openKilled opens a node whose files and batches are so small that a kill meets every step
// of a batch.
func openKilled(ctx context.Context, dir string) (*killed, error) {
	raw, err := os.ReadFile(filepath.Join(dir, serverFile))
	if err != nil {
		return nil, err
	}
	var server client.Server
	var address [2]string
	if err := json.Unmarshal(raw, &address); err != nil {
		return nil, err
	}
	server.URL, server.Database, server.User, server.Password = address[0], address[1], clickhousetest.User, sealed.New(clickhousetest.Password)
	k := new(killed)
	if k.journal, err = journal.Open(journal.Options{Dir: filepath.Join(dir, "journal"), SegmentBytes: 256 << 10, MaxRecordBytes: 64 << 10}); err != nil {
		return nil, err
	}
	if k.db, err = clickhouse.Open(ctx, clickhouse.Options{Server: server, Node: k.journal.ID()}); err != nil {
		return nil, err
	}
	if k.files, err = bodies.Open(bodies.Options{Dir: filepath.Join(dir, "bodies"), BlockBytes: 16 << 10, FileBytes: 64 << 10, Node: k.journal.ID()}); err != nil {
		return nil, err
	}
	k.store = requestlog.New(k.journal.Records(), k.db, k.files, requestlog.Options{Interval: time.Millisecond, BatchSize: 20, Node: k.journal.ID()})
	return k, nil
}

// storeUntilKilled is the child: it appends, acknowledges each number once Append has
// returned, and moves records to the server all the while.
func storeUntilKilled(dir string, from int64) {
	k, err := openKilled(context.Background(), dir)
	if err != nil {
		panic(err)
	}
	go func() { panic(k.journal.Run(context.Background())) }()
	go func() { panic(k.store.Run(context.Background())) }()
	var next atomic.Int64
	next.Store(from)
	for {
		for k.journal.Stats().Lag > 40 { // kills are to meet batches, not a backlog
			time.Sleep(100 * time.Microsecond)
		}
		i := next.Add(1)
		if err := k.journal.Append(recordtest.Chat(int(i))); err != nil {
			panic(err)
		}
		killtest.Acknowledge(i)
	}
}

// Killed at any instant, with a batch on its way to the server, the log has every record
// whose Append returned, once, with its bodies.
func TestKillNeitherLosesNorDoubles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := clickhousetest.Start(t).Database(t)
	raw, err := json.Marshal([2]string{server.URL, server.Database})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, serverFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var acked []int
	for round := range 8 {
		acked = append(acked, killtest.Acknowledged(t, dir, round*1_000_000, 30+rand.IntN(150))...)
	}
	k, err := openKilled(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := k.db.Progress(t.Context())
	if err != nil || before.Next.Seq == 0 {
		t.Fatalf("the kills met no batch: position %d, %v", before.Next.Seq, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Run takes over what is left and returns
	if err := k.store.Run(ctx); err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	var total int64
	q := record.Query{OrgID: recordtest.Org, Limit: record.MaxLimit, Count: true}
	for {
		page, err := k.store.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		total = page.Total
		for i := range page.Rows {
			if times[page.Rows[i].ID]++; times[page.Rows[i].ID] > 1 {
				t.Fatalf("%s is in the log twice", page.Rows[i].ID)
			}
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if total != int64(len(times)) {
		t.Errorf("%d rows are counted, %d are listed", total, len(times))
	}
	for i, number := range acked {
		chat := recordtest.Chat(number)
		if times[chat.ID] != 1 {
			t.Fatalf("record %d is not in the log", number)
		}
		if i%50 == 0 {
			got, err := k.store.Find(t.Context(), recordtest.Org, "", chat.ID)
			if err != nil || string(got.Request.Bytes) != string(chat.Request.Bytes) || string(got.Response.Bytes) != string(chat.Response.Bytes) {
				t.Errorf("record %d: bodies %q and %q, %v", number, got.Request.Bytes, got.Response.Bytes, err)
			}
		}
	}
	t.Logf("%d acknowledged, %d in the log, position at the last start %d", len(acked), len(times), before.Next.Seq)
	if err := errors.Join(k.db.Close(), k.files.Close(), k.journal.Close()); err != nil {
		t.Error(err)
	}
}
