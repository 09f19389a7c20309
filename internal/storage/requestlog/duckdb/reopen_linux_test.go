package duckdb_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/journal/disktest"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/requestlog/requestlogtest"
)

var everything = record.Query{OrgID: recordtest.Org, Limit: record.MaxLimit}

// onDisk opens a database on a small disk of its own.
func onDisk(t *testing.T, reserve int) (db *duckdb.DB, disk string) {
	t.Helper()
	disk = disktest.Small(t, "40m")
	db, err := duckdb.Open(t.Context(), duckdb.Options{Path: filepath.Join(disk, "logs.duckdb"), MemoryMB: 128, ReserveMB: reserve, ExactBelow: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, disk
}

// ruin fills the disk and lets a checkpoint meet that, as comes by itself with every 64 MB that
// are written. What it returns makes room.
func ruin(t *testing.T, db *duckdb.DB, disk string) (free func()) {
	t.Helper()
	free = disktest.Fill(t, disk, 8<<10)
	await(t, "the log is away", func() bool { // sums that are stored just then refuse a checkpoint
		return fault.Has(db.Exec(t.Context(), "CHECKPOINT"), fault.Overloaded)
	})
	return free
}

// batch is some attempts of which no other number has any.
func batch(number, size int) (out []*record.Attempt) {
	for i := range size {
		out = append(out, recordtest.Chat(number*size+i))
	}
	return out
}

// A checkpoint that met a full disk makes the database useless. Records wait, questions are
// told that the log is away, and when there is room everything is there once, without a restart.
func TestDatabaseHeals(t *testing.T) {
	t.Parallel()
	for name, reserve := range map[string]int{"with a reserve": 4, "without": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n node
			var err error
			var disk string
			n.db, disk = onDisk(t, reserve)
			if n.journal, err = journal.Open(journal.Options{Dir: t.TempDir(), SegmentBytes: 8 << 20}); err != nil {
				t.Fatal(err)
			}
			if n.files, err = bodies.Open(bodies.Options{Dir: filepath.Join(t.TempDir(), "bodies")}); err != nil {
				t.Fatal(err)
			}
			n.store = requestlog.New(n.journal.Records(), n.db, n.files, requestlog.Options{Interval: time.Millisecond, BatchSize: 500})
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- n.store.Run(ctx) }()
			put := func(number int) {
				for _, a := range batch(number, 3000) {
					if err := n.journal.Append(a); err != nil {
						t.Fatal(err)
					}
				}
			}
			stored := func() bool { return n.store.Err() == nil && n.journal.Stats().Lag == 0 }
			for round := range 2 {
				put(2 * round)
				await(t, "a batch is stored", stored)
				free := ruin(t, n.db, disk)
				put(2*round + 1)
				if reserve > 0 {
					await(t, "the log fails", func() bool { return n.store.Err() != nil })
					for range 3 {
						if _, err := n.store.List(t.Context(), everything); !fault.Has(err, fault.Overloaded) {
							t.Errorf("%v, want that the log is away", err)
						}
					}
					t.Log(n.store.Err())
				}
				free()
				await(t, "all is stored", stored)
			}
			times := map[string]int{}
			for _, id := range all(t, n.store) {
				times[id]++
			}
			for i := range 4 * 3000 {
				if id := recordtest.Chat(i).ID; times[id] != 1 {
					t.Fatalf("record %d is there %d times", i, times[id])
				}
			}
			stop()
			if err := errors.Join(<-ended, n.files.Close(), n.journal.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Questions, sums and writes go on while the database becomes useless and is opened again below
// them: they fail, or see whole transactions.
func TestUseBesideReopening(t *testing.T) {
	t.Parallel()
	const size = 100
	db, disk := onDisk(t, 4)
	far := recordtest.Epoch.Add(10 * 365 * 24 * time.Hour)
	done := make(chan struct{})
	var group sync.WaitGroup
	concurrently := func(use func() error) {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := use(); err != nil && !fault.Has(err, fault.Overloaded) {
					t.Error(err)
					return
				}
			}
		})
	}
	list := func() error {
		q := everything
		q.Count = true
		page, err := db.List(t.Context(), q)
		if err == nil && page.Total%size != 0 {
			t.Errorf("%d rows, want whole batches", page.Total)
		}
		return err
	}
	concurrently(list)
	concurrently(list)
	concurrently(func() error {
		_, err := db.Analyse(t.Context(), record.Analysis{Query: record.Query{OrgID: recordtest.Org, From: recordtest.Epoch.Add(-time.Hour), To: far}, By: record.ByModel, Metrics: record.MetricLatency})
		return err
	})
	concurrently(func() error { // what is written may meet the full disk, too
		_ = db.Roll(t.Context(), far)
		_, _ = db.Delete(t.Context(), requestlog.RetentionCutoffs{Before: recordtest.Epoch.Add(-time.Hour)})
		return nil
	})
	requestlogtest.Put(t, db, batch(0, size)...)
	for round := 1; round <= 3; round++ {
		free := ruin(t, db, disk)
		if err := list(); !fault.Has(err, fault.Overloaded) {
			t.Errorf("%v, want that the log is away", err)
		}
		free()
		await(t, "the database is open again", func() bool { _, err := db.Progress(t.Context()); return err == nil })
		requestlogtest.Put(t, db, batch(round, size)...)
	}
	close(done)
	group.Wait()
	q := everything
	q.Count = true
	if page, err := db.List(t.Context(), q); err != nil || page.Total != 4*size {
		t.Errorf("%d rows, %v; want %d", page.Total, err, 4*size)
	}
}

// A question that is under way when the database becomes useless ends, and the reopening does
// not wait for what it would have taken.
func TestQuestionUnderWayEnds(t *testing.T) {
	t.Parallel()
	db, disk := onDisk(t, 4)
	requestlogtest.Put(t, db, batch(0, 5000)...)
	ended := make(chan error, 1)
	go func() {
		ended <- db.Exec(t.Context(), "SELECT count(*) FROM range(1000000000000) AS a WHERE a.range % 7 = 8")
	}()
	await(t, "it is under way", func() bool { return db.InUse() > 0 })
	free := ruin(t, db, disk)
	if err := <-ended; !fault.Has(err, fault.Overloaded) {
		t.Errorf("%v, want that the log is away", err)
	}
	free()
	await(t, "the database is open again", func() bool { _, err := db.Progress(t.Context()); return err == nil })
	if page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org, Count: true}); err != nil || page.Total != 5000 {
		t.Errorf("%d rows, %v; want 5000", page.Total, err)
	}
}

// The commit of a batch is where a checkpoint comes by itself. Whether the batch is stored, the
// database tells when it is open again: it may be, although the commit failed.
func TestCommitThatEndsFatally(t *testing.T) {
	t.Parallel()
	db, disk := onDisk(t, -1)
	write := func(seq uint64, some []*record.Attempt) error {
		return db.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
			for _, a := range some {
				if err := to.Add(a, bodies.Ref{}); err != nil {
					return requestlog.Progress{}, err
				}
			}
			return requestlog.Progress{Next: record.Position{Seq: seq}}, nil
		})
	}
	if err := errors.Join(write(5000, batch(0, 5000)), db.Exec(t.Context(), "SET GLOBAL checkpoint_threshold = '1MB'")); err != nil {
		t.Fatal(err)
	}
	free := disktest.Fill(t, disk, 128<<10)
	if err := write(5050, batch(100, 50)); !fault.Has(err, fault.Overloaded) {
		t.Fatalf("%v, want that the log is away", err)
	}
	free()
	var p requestlog.Progress
	await(t, "the database is open again", func() (ok bool) {
		var err error
		p, err = db.Progress(t.Context())
		return err == nil
	})
	page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org, Count: true})
	if err != nil || page.Total != int64(p.Next.Seq) {
		t.Errorf("%d rows, %v; the database is at %d", page.Total, err, p.Next.Seq)
	}
}

// Close waits for an opening that is under way, and nothing opens the database after it.
func TestCloseBesideReopening(t *testing.T) {
	t.Parallel()
	for name, readers := range map[string]int{"while it is away": 0, "while it is opened again": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, disk := onDisk(t, 4)
			requestlogtest.Put(t, db, batch(0, 5000)...)
			ruin(t, db, disk)()
			var group sync.WaitGroup
			for range readers {
				group.Go(func() {
					for {
						if _, err := db.List(t.Context(), everything); err != nil && !fault.Has(err, fault.Overloaded) {
							return
						}
					}
				})
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			group.Wait()
			if _, err := db.Progress(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "log database is closed") {
				t.Errorf("%v, want that it is closed", err)
			}
		})
	}
}
