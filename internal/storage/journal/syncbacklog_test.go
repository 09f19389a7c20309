package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
)

// A disk that takes nothing for half a minute ends the taking of calls, since what they leave
// behind would not outlive the machine. Those under way are closed, and what waits is written
// as soon as the disk takes it, after which calls are taken again.
func TestNothingBeginsWhileTheDiskTakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	synctest.Test(t, func(t *testing.T) {
		o := small(dir)
		o.SegmentBytes, o.MaxBytes = 256<<10, 4<<20 // all entries fit into the segments that exist already
		o.Sync = time.Second
		j := open(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- j.Run(ctx) }()
		synctest.Wait()
		begin := func(n int) error {
			return errors.Join(j.AppendLine(reserved(n)), j.Append(recordtest.Chat(n)), j.Err())
		}
		if err := begin(0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		if err := begin(1); err != nil {
			t.Errorf("when the disk begins to fail: %v", err)
		}
		time.Sleep(25 * time.Second)
		if err := begin(2); err != nil {
			t.Errorf("before half a minute: %v", err)
		}
		time.Sleep(10 * time.Second)
		for name, err := range map[string]error{"a line": j.AppendLine(reserved(3)), "a call that was not sent": j.Append(recordtest.Chat(3)), "health": j.Err()} {
			if !errors.Is(err, journal.ErrUnwritten) {
				t.Errorf("after half a minute %s: %v", name, err)
			}
		}
		if err := errors.Join(j.AppendLine(closed(1)), j.Append(closing(2))); err != nil {
			t.Errorf("calls under way: %v", err)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := begin(4); err != nil {
			t.Errorf("when the disk takes it again: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
