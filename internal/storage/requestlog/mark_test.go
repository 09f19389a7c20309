package requestlog_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog"
)

// Who waits for the log sees everything that was on record before, corrections too, however
// writes fail before or behind their commit.
func TestSettle(t *testing.T) {
	errDisk := errors.New("disk is sick")
	once := func() func() error {
		calls := 0
		return func() error {
			if calls++; calls == 1 {
				return errDisk
			}
			return nil
		}
	}
	for _, how := range []string{"well", "before the commit", "after the commit"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t, requestlog.Options{})
				stop := n.run(t)
				n.append(t, 0, 3)
				if err := n.store.WaitIngested(t.Context()); err != nil {
					t.Fatal(err)
				}
				n.check(t, 3)
				switch how {
				case "before the commit":
					n.rows.Before = once()
				case "after the commit":
					n.rows.After = once()
				}
				chat := recordtest.Chat(1)
				if err := n.journal.AppendCorrection(&record.Correction{ID: chat.ID, Started: chat.Started, Operation: "op", After: record.Rated{Cost: 42}}); err != nil {
					t.Fatal(err)
				}
				if err := n.store.WaitIngested(t.Context()); err != nil {
					t.Fatal(err)
				}
				a, err := n.store.Find(t.Context(), recordtest.Org, "", chat.ID)
				if err != nil || a.Spend.Cost != 42 {
					t.Errorf("the attempt costs %d, %v; want 42", a.Spend.Cost, err)
				}
				if trail, err := n.store.Corrections(t.Context(), chat.ID); err != nil || len(trail) != 1 {
					t.Errorf("%d corrections, %v", len(trail), err)
				}
				n.rows.Before, n.rows.After = nil, nil
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Nobody waits for longer than they want, nor behind the end of the journal.
func TestSettleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, requestlog.Options{}) // nothing runs
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := n.store.WaitIngested(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want that the time is over", err)
		}
		if err := n.journal.Close(); err != nil {
			t.Fatal(err)
		}
		if err := n.store.WaitIngested(t.Context()); err == nil {
			t.Error("settled without a journal")
		}
	})
}
