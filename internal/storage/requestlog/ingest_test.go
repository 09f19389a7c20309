package requestlog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/requestlogtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a journal and a log store beside it, with its rows in memory.
type node struct {
	journal *journal.Journal
	rows    *requestlogtest.Memory
	files   *bodies.Files
	store   *requestlog.Store
	dir     string
}

func start(t *testing.T, o requestlog.Options) *node {
	t.Helper()
	n := &node{dir: t.TempDir(), rows: new(requestlogtest.Memory)}
	var err error
	n.journal, err = journal.Open(journal.Options{Dir: filepath.Join(n.dir, "journal"), SegmentBytes: 64 << 10, MaxRecordBytes: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	n.files, err = bodies.Open(bodies.Options{Dir: filepath.Join(n.dir, "bodies"), FileBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(n.journal.Close(), n.files.Close()); err != nil {
			t.Error(err)
		}
	})
	n.store = requestlog.New(n.journal.Records(), n.rows, n.files, o)
	return n
}

func (n *node) append(t *testing.T, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := n.journal.Append(recordtest.Chat(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// check compares the log with the chats that were appended.
func (n *node) check(t *testing.T, want int) {
	t.Helper()
	page, err := n.store.List(t.Context(), record.Query{OrgID: recordtest.Org, Limit: 1000, Count: true})
	if err != nil || page.Total != int64(want) {
		t.Fatalf("%d in the log, %v; want %d", page.Total, err, want)
	}
	for i := range page.Rows {
		chat := recordtest.Chat(i)
		got, err := n.store.Find(t.Context(), recordtest.Org, recordtest.Workspace, chat.ID)
		if err != nil || !bytes.Equal(got.Request.Bytes, chat.Request.Bytes) || !bytes.Equal(got.Response.Bytes, chat.Response.Bytes) {
			t.Fatalf("chat %d: %d and %d bytes of bodies, %v", i, len(got.Request.Bytes), len(got.Response.Bytes), err)
		}
	}
}

// run runs the store until stop is called, which returns what Run returned.
func (n *node) run(t *testing.T) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.store.Run(ctx) }()
	return func() error { cancel(); return <-ended }
}

func TestRecordsAreVisibleAfterTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, requestlog.Options{Interval: 400 * time.Millisecond, BatchSize: 10})
		stop := n.run(t)
		time.Sleep(time.Hour) // nothing to do
		n.append(t, 0, 35)
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		n.check(t, 35)
		if st := n.store.Stats(); st.Records != 35 || st.Batches != 4 || st.Failures != 0 {
			t.Errorf("stats %+v, want 35 records in 4 batches of at most 10", st)
		}
		if lag := n.journal.Stats().Lag; lag != 0 {
			t.Errorf("%d records still needed in the journal", lag)
		}
		n.append(t, 35, 40)
		if err := stop(); err != nil {
			t.Error(err)
		}
		n.check(t, 40)
	})
}

func TestBatchesAreBoundedByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, requestlog.Options{BatchMax: 4000})
		n.append(t, 0, 12)
		if err := n.run(t)(); err != nil {
			t.Fatal(err)
		}
		n.check(t, 12)
		if st := n.store.Stats(); st.Batches < 4 {
			t.Errorf("stats %+v, want batches of some 4,000 bytes", st)
		}
	})
}

// A failure before or after a commit took effect neither loses nor doubles.
func TestFailuresNeitherLoseNorDouble(t *testing.T) {
	errDisk := errors.New("disk is sick")
	sometimes := func() func() error {
		calls := 0
		return func() error {
			if calls++; calls%3 != 0 {
				return errDisk
			}
			return nil
		}
	}
	for name, harm := range map[string]func(*requestlogtest.Memory){
		"before the commit": func(m *requestlogtest.Memory) { m.Before = sometimes() },
		"after the commit":  func(m *requestlogtest.Memory) { m.After = sometimes() },
		"both":              func(m *requestlogtest.Memory) { m.Before, m.After = sometimes(), sometimes() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				n := start(t, requestlog.Options{BatchSize: 7, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				harm(n.rows)
				stop := n.run(t)
				n.append(t, 0, 20)
				time.Sleep(2 * time.Second)
				if err := n.store.Err(); !errors.Is(err, errDisk) {
					t.Errorf("health %v, want what failed", err)
				}
				n.append(t, 20, 40)
				time.Sleep(time.Hour)
				synctest.Wait()
				n.check(t, 40)
				if err := n.store.Err(); err != nil {
					t.Errorf("health %v after it went well again", err)
				}
				n.rows.Before, n.rows.After = nil, nil
				if err := stop(); err != nil {
					t.Error(err)
				}
				begun, ended := strings.Count(log.String(), "cannot write log store"), strings.Count(log.String(), "log store writes restored")
				if begun == 0 || begun != ended {
					t.Errorf("the log tells %d beginnings and %d ends: %s", begun, ended, &log)
				}
			})
		})
	}
}

func TestRetainDeletesRowsAndBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, requestlog.Options{BatchSize: 1}) // so that each chat has a file of bodies
		n.append(t, 0, 10)
		if err := n.run(t)(); err != nil {
			t.Fatal(err)
		}
		startOf := func(i int) time.Time { return recordtest.Chat(i).Started }
		if err := n.store.Retain(t.Context(), requestlog.Retention{Metrics: requestlog.RetentionCutoffs{Before: startOf(3)}, Bodies: requestlog.RetentionCutoffs{Before: startOf(6)}}); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			got, err := n.store.Find(t.Context(), recordtest.Org, "", recordtest.Chat(i).ID)
			row, bodies := !fault.Has(err, fault.NotFound), len(got.Request.Bytes) > 0
			if row != (i >= 3) || bodies != (i >= 6) || row && got.Request.Size == 0 {
				t.Errorf("chat %d: row %v, bodies %v, %v", i, row, bodies, err)
			}
		}
		if err := n.store.Retain(t.Context(), requestlog.Retention{Metrics: requestlog.RetentionCutoffs{Before: startOf(100)}, Bodies: requestlog.RetentionCutoffs{Before: startOf(100)}}); err != nil {
			t.Fatal(err)
		}
		n.check(t, 0)
		if files, _ := filepath.Glob(filepath.Join(n.dir, "bodies", "*")); len(files) != 1 {
			t.Errorf("%d files of bodies, want the one being written", len(files))
		}
	})
}
