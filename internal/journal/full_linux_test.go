package journal_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"sluice/internal/journal"
	"sluice/internal/journal/disktest"
	"sluice/internal/record"
	"sluice/internal/record/recordtest"
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

// holds fails unless a journal has the first n chats, in order.
func holds(t *testing.T, j *journal.Journal, n int) {
	t.Helper()
	seen := 0
	j.Records().Read(record.Position{}, func(a *record.Attempt, _ *record.Correction) bool {
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
