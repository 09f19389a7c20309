package duckdb_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/journal/disktest"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/duckdb"
)

// While the disk of the rows, or of the bodies, is full, records wait in the journal and the
// log says why; reading goes on. When there is room again everything is there once, with its
// bodies, without a restart.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]int{"rows": 0, "rows, later": 1 << 20, "rows, with a reserve": 12 << 20, "bodies": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			what, with, _ := strings.Cut(name, ",")
			reserve := -1
			if with == " with a reserve" {
				reserve = 11
			}
			disk, dirs := disktest.Small(t, "40m"), map[string]string{"rows": t.TempDir(), "bodies": t.TempDir()}
			dirs[what] = disk
			n := new(node)
			var err error
			if n.journal, err = journal.Open(journal.Options{Dir: t.TempDir(), SegmentBytes: 8 << 20}); err != nil {
				t.Fatal(err)
			}
			if n.db, err = duckdb.Open(t.Context(), duckdb.Options{Path: filepath.Join(dirs["rows"], "logs.duckdb"), MemoryMB: 128, ReserveMB: reserve}); err != nil {
				t.Fatal(err)
			}
			if n.files, err = bodies.Open(bodies.Options{Dir: filepath.Join(dirs["bodies"], "bodies")}); err != nil {
				t.Fatal(err)
			}
			n.store = requestlog.New(n.journal.Records(), n.db, n.files, requestlog.Options{Interval: time.Millisecond, BatchSize: 500})
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- n.store.Run(ctx) }()
			next := 0
			put := func(count int) {
				for ; count > 0; count-- {
					if err := n.journal.Append(recordtest.Chat(next)); err != nil {
						t.Fatal(err)
					}
					next++
				}
			}
			put(100)
			await(t, "the first are stored", func() bool { return len(all(t, n.store)) == 100 })
			free := disktest.Fill(t, disk, left)
			for n.store.Err() == nil {
				if next > 200_000 {
					t.Fatal("the disk is never full")
				}
				put(500)
				// Not more than the small disk has room for: what is stored stands in the
				// log of the database, 300 bytes a row, until that has 64 MB.
				await(t, "the log follows", func() bool { return n.store.Err() != nil || n.journal.Stats().Lag < 5000 })
			}
			if message := n.store.Err().Error(); strings.Contains(message, "LOG_DISK_RESERVE_MB") != (reserve > 0) {
				t.Error(message)
			}
			t.Logf("behind %d records: %v", next, n.store.Err())
			if got := len(all(t, n.store)); got < 100 {
				t.Errorf("%d rows can be read meanwhile", got)
			}
			free()
			await(t, "all is stored", func() bool { return n.store.Err() == nil && n.journal.Stats().Lag == 0 })
			times := map[string]int{}
			for _, id := range all(t, n.store) {
				times[id]++
			}
			for i := range next {
				chat := recordtest.Chat(i)
				if times[chat.ID] != 1 {
					t.Fatalf("record %d is there %d times", i, times[chat.ID])
				}
				if i%97 == 0 {
					checkBodies(t, n.store, chat)
				}
			}
			stop()
			if err := errors.Join(<-ended, n.close()); err != nil {
				t.Error(err)
			}
		})
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("in vain: " + what)
		}
	}
}
