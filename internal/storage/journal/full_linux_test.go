package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/journal/disktest"
)

// On a disk that is full the journal refuses, with the cause; what it took is there, over a
// restart too; and when there is room again it goes on by itself.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := disktest.Small(t, "5m")
	clock := &fakeClock{now: recordtest.Epoch}
	o := journal.Options{Dir: dir, SegmentBytes: 1 << 20, MaxRecordBytes: 64 << 10, Clock: clock}
	j, err := journal.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(recordtest.Chat(0)); err != nil {
		t.Fatal(err)
	}
	free := disktest.Fill(t, dir, 0)
	taken := 1
	for err = nil; err == nil; taken++ {
		err = j.Append(recordtest.Chat(taken))
	}
	taken--
	if !errors.Is(err, journal.ErrFull) || !errors.Is(err, syscall.ENOSPC) || !errors.Is(j.Err(), syscall.ENOSPC) || j.Stats().Refused == 0 {
		t.Fatalf("behind %d entries: %v; health %v, %d refused", taken, err, j.Err(), j.Stats().Refused)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, err = journal.Open(o); err != nil {
		t.Fatalf("open on a full disk: %v", err)
	}
	holds(t, j, taken)
	clock.now = clock.now.Add(time.Second)
	if err := j.Append(recordtest.Chat(taken)); !errors.Is(err, journal.ErrFull) {
		t.Errorf("still full: %v", err)
	}
	free()
	clock.now = clock.now.Add(time.Second)
	for ; taken < 500; taken++ {
		if err := j.Append(recordtest.Chat(taken)); err != nil {
			t.Fatalf("with room again: %v", err)
		}
	}
	if j.Err() != nil {
		t.Errorf("health with room again: %v", j.Err())
	}
	holds(t, j, taken)
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A disk that has no room for another file leaves what there is of the last one to calls under
// way: each line that was reserved is closed with its record. Health says so, and a file is
// made as soon as there is room, whoever asks.
func TestDiskFullKeepsRoomForCallsUnderWay(t *testing.T) {
	t.Parallel()
	dir := disktest.Small(t, "5m")
	clock := &fakeClock{now: recordtest.Epoch}
	j := open(t, journal.Options{Dir: dir, SegmentBytes: 1 << 20, MaxRecordBytes: 64 << 10, Clock: clock})
	put(t, j, 0, 1)
	free := disktest.Fill(t, dir, 0)
	n, ended := 0, 0
	end := func() {
		for ; ended < n; ended++ {
			a := closing(ended)
			a.Response.Bytes = bytes.Repeat([]byte("x"), 20<<10)
			if err := j.Append(a); err != nil {
				t.Fatalf("of %d calls the end of %d: %v", n, ended, err)
			}
		}
	}
	var err error
	for ; err == nil; n++ {
		if err = j.AppendLine(reserved(n)); err != nil {
			break
		}
		if n%10 == 9 {
			end()
		}
	}
	end()
	if !errors.Is(err, journal.ErrFull) || !errors.Is(err, syscall.ENOSPC) || !errors.Is(j.Err(), syscall.ENOSPC) {
		t.Errorf("behind %d calls: %v; health %v", n, err, j.Err())
	}
	free()
	clock.now = clock.now.Add(time.Second)
	if err := j.AppendLine(reserved(n)); err != nil || j.Err() != nil {
		t.Errorf("with room again: %v; health %v", err, j.Err())
	}
}

// Without anybody who asks, too: health is what sends callers elsewhere.
func TestJournalFindsRoomByItself(t *testing.T) {
	t.Parallel()
	o := small(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 3 { // whichever number is next
			if err := os.Mkdir(filepath.Join(o.Dir, fmt.Sprintf("%016d.seg", n+1)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Append(recordtest.Chat(0)); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- j.Run(ctx) }()
		synctest.Wait()
		if !errors.Is(j.Err(), journal.ErrFull) {
			t.Errorf("no file can be made, and health says %v", j.Err())
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if err := j.Err(); err != nil {
			t.Errorf("a file can be made, and health says %v", err)
		}
		stop()
		if err := errors.Join(<-done, j.Close()); err != nil {
			t.Error(err)
		}
	})
}

// While Run runs nobody else tries a file again: on a full disk that takes long, and all who
// append would wait for it.
func TestNoCallTriesAFileAgain(t *testing.T) {
	t.Parallel()
	o := small(t.TempDir())
	clock := &fakeClock{now: recordtest.Epoch}
	o.Clock = clock
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(o.Dir, fmt.Sprintf("%016d.seg", 1)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := j.Append(recordtest.Chat(0)); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- j.Run(ctx) }()
		synctest.Wait()
		clock.now = clock.now.Add(time.Minute)
		if err := j.AppendLine(reserved(1)); !errors.Is(err, journal.ErrFull) {
			t.Errorf("the call made a file by itself: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if err := j.AppendLine(reserved(1)); err != nil {
			t.Errorf("Run has made none: %v", err)
		}
		stop()
		if err := errors.Join(<-done, j.Close()); err != nil {
			t.Error(err)
		}
	})
}

// holds fails unless a journal has the first n chats, in order.
func holds(t *testing.T, j *journal.Journal, n int) {
	t.Helper()
	seen := 0
	j.Records().Read(record.Position{}, func(e record.Entry) bool {
		a := e.Attempt
		if want := recordtest.Chat(seen); a == nil || a.ID != want.ID || string(a.Response.Bytes) != string(want.Response.Bytes) {
			t.Fatalf("entry %d is %+v", seen, a)
		}
		seen++
		return true
	})
	if seen != n {
		t.Errorf("%d entries are there, %d were taken", seen, n)
	}
}
