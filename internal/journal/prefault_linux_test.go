package journal_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"sluice/internal/journal"
	"sluice/internal/record"
	"sluice/internal/record/recordtest"
)

// A page fault of a record would hold up its request for as long as the file system
// likes. They are the business of another thread.
func TestAppendTouchesNoColdPage(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "journal") // where every page faults by itself
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	synctest.Test(t, func(t *testing.T) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		j := open(t, journal.Options{Dir: dir, SegmentBytes: 6 << 20, MaxBytes: 64 << 20})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- j.Run(ctx) }()
		synctest.Wait()
		a := recordtest.Chat(1)
		appended, waited := 0, int64(0)
		for appended < 20<<20 { // over several files, of which some are used again
			before := faults(t)
			for range 200 {
				if err := j.Append(a); err != nil {
					t.Fatal(err)
				}
				appended += a.EncodedSize()
			}
			waited += faults(t) - before
			if err := j.Trim(record.Position{Seq: 1 << 62}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		pages := appended / 4096
		if waited > int64(pages/10) {
			t.Errorf("%d page faults for %d pages of records", waited, pages)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// faults is how many pages this thread had to wait for.
func faults(t *testing.T) int64 {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return u.Minflt + u.Majflt
}
