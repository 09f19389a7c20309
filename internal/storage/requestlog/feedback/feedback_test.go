package feedback_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/requestlog/feedback"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// world is a control plane, a log store that follows it, and what the latter should know.
type world struct {
	*testing.T
	store *sqlstore.Store
	path  string
	log   *flaky
	want  map[string]record.Feedback // by id
	ids   []string
}

// flaky is a log store whose next change of feedback fails, before or after it is stored.
type flaky struct {
	*duckdb.DB
	before, after bool
}

var errCrash = errors.New("crash of the test")

func (f *flaky) PutFeedback(ctx context.Context, b requestlog.FeedbackBatch) error {
	if f.before {
		f.before = false
		return errCrash
	}
	err := f.DB.PutFeedback(ctx, b)
	if f.after && err == nil {
		f.after = false
		return errCrash
	}
	return err
}

func newWorld(t *testing.T) *world {
	s := storetest.Open(t, storetest.SQLite(t))
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, store: s, path: filepath.Join(t.TempDir(), "logs.duckdb"), want: map[string]record.Feedback{}}
	w.open()
	t.Cleanup(func() { _ = w.log.Close() })
	return w
}

func (w *world) open() {
	w.Helper()
	db, err := duckdb.Open(w.Context(), duckdb.Options{Path: w.path, MemoryMB: 128})
	if err != nil {
		w.Fatal(err)
	}
	w.log = &flaky{DB: db}
}

func (w *world) follower() *feedback.Follower {
	return feedback.New(w.store, w.log, slog.New(slog.DiscardHandler))
}

// change runs f in a transaction of the control plane.
func (w *world) change(f func(ctx context.Context, tx resource.Tx) error) {
	w.Helper()
	if err := w.store.InTx(w.Context(), func(tx resource.Tx) error { return f(w.Context(), tx) }); err != nil {
		w.Fatal(err)
	}
}

// addFeedback adds feedback on the trace of the n-th chat.
func (w *world) addFeedback(n, value int) string {
	w.Helper()
	f := record.Feedback{TraceID: recordtest.Chat(n).TraceID, Value: value, Weight: 1}
	id := ident.NewID()
	w.change(func(ctx context.Context, tx resource.Tx) error { return tx.Insert(ctx, w.record(id, f, 1)) })
	w.want[id] = f
	w.ids = append(w.ids, id)
	return id
}

func (w *world) record(id string, f record.Feedback, version int64) resource.Record {
	body, err := json.Marshal(f)
	if err != nil {
		w.Fatal(err)
	}
	return resource.Record{
		Kind: record.FeedbackKind, ID: id, OrgID: recordtest.Org, WorkspaceID: recordtest.Workspace, Status: resource.Active,
		Version: version, Created: recordtest.Epoch, Updated: recordtest.Epoch, Body: body,
	}
}

// revalue gives a feedback another value.
func (w *world) revalue(id string, value int) {
	w.Helper()
	f := w.want[id]
	f.Value = value
	w.change(func(ctx context.Context, tx resource.Tx) error {
		r, err := tx.Find(ctx, record.FeedbackKind, id)
		if err != nil {
			return err
		}
		return tx.Update(ctx, w.record(id, f, r.Version))
	})
	w.want[id] = f
}

// deleteFeedback deletes a feedback.
func (w *world) deleteFeedback(id string) {
	w.Helper()
	w.change(func(ctx context.Context, tx resource.Tx) error { return tx.Delete(ctx, record.FeedbackKind, id) })
	delete(w.want, id)
}

// other changes something of another kind.
func (w *world) other(n int) {
	w.Helper()
	w.change(func(ctx context.Context, tx resource.Tx) error {
		for range n {
			r := resource.Record{Kind: "config", ID: ident.NewID(), OrgID: recordtest.Org, Status: resource.Active, Version: 1, Created: recordtest.Epoch, Updated: recordtest.Epoch, Body: []byte("{}")}
			if err := tx.Insert(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// check compares what the log store knows, by value.
func (w *world) check() error {
	page, err := w.log.Analyse(w.Context(), record.Analysis{
		Query: record.Query{OrgID: recordtest.Org, From: recordtest.Epoch, To: recordtest.Epoch.Add(time.Hour)}, By: record.ByScore, Metrics: record.MetricFeedback,
	})
	if err != nil {
		return err
	}
	got, want := map[string]int64{}, map[string]int64{}
	for _, row := range page.Rows {
		got[row.Value] = row.Feedbacks
	}
	for _, f := range w.want {
		want[fmt.Sprint(f.Value)]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("feedback of each value (-want +got):\n%s", diff)
	}
	return nil
}

// putChats writes what the feedback is about.
func (w *world) putChats(n int) {
	w.Helper()
	err := w.log.Write(w.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		for i := range n {
			if err := to.Add(recordtest.Chat(i), bodies.Ref{}); err != nil {
				return requestlog.Progress{}, err
			}
		}
		return requestlog.Progress{}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// Whatever happens to feedback and to the one who follows it, the log store knows what
// there is.
func TestFeedbackIsFollowedExactlyOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putChats(5)
	rapid.Check(t, func(rt *rapid.T) {
		f := w.follower()
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			switch pick := rapid.IntRange(0, 6).Draw(rt, "step"); {
			case pick == 0 && len(w.want) > 0:
				w.deleteFeedback(w.some(rt))
			case pick == 1 && len(w.want) > 0:
				w.revalue(w.some(rt), rapid.IntRange(-10, 10).Draw(rt, "value"))
			case pick == 2:
				w.log.before, w.log.after = rapid.Bool().Draw(rt, "before"), rapid.Bool().Draw(rt, "after")
			case pick == 3:
				f = w.follower() // one that knows nothing
			case pick == 4:
				_ = f.Follow(rt.Context()) // may fail as it was told to
			case pick == 5:
				w.other(2)
			default:
				w.addFeedback(rapid.IntRange(0, 4).Draw(rt, "chat"), rapid.IntRange(-10, 10).Draw(rt, "value"))
			}
		}
		w.log.before, w.log.after = false, false
		if err := f.Follow(rt.Context()); err != nil {
			rt.Fatal(err)
		}
		if err := w.check(); err != nil {
			rt.Fatal(err)
		}
	})
}

// some is a feedback that is there.
func (w *world) some(rt *rapid.T) string {
	var there []string
	for _, id := range w.ids {
		if _, ok := w.want[id]; ok {
			there = append(there, id)
		}
	}
	return rapid.SampledFrom(there).Draw(rt, "id")
}

func TestFeedbackSurvivesARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putChats(3)
	stored, gone := w.addFeedback(0, 5), w.addFeedback(1, -5)
	w.other(2_500) // more than two batches
	w.follow()
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.deleteFeedback(gone)
	w.revalue(stored, 7)
	w.addFeedback(2, 9)
	w.follow()
}

// follow catches up and checks.
func (w *world) follow() {
	w.Helper()
	if err := w.follower().Follow(w.Context()); err != nil {
		w.Fatal(err)
	}
	if err := w.check(); err != nil {
		w.Fatal(err)
	}
}

// A control plane that was set back has less in its feed than the log store has seen.
func TestFeedbackOfAControlPlaneThatWasSetBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putChats(3)
	for i := range 3 {
		w.addFeedback(i, 5)
	}
	w.follow()
	fresh := storetest.Open(t, storetest.SQLite(t))
	if err := fresh.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.store, w.want = fresh, map[string]record.Feedback{}
	w.addFeedback(1, -2)
	w.follow()
}
