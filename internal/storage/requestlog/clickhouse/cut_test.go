package clickhouse_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse"
)

// cutter stands between a node and its server and cuts all connections from some request
// on.
type cutter struct {
	left atomic.Int64 // requests that still pass
	late atomic.Bool  // the first one that is cut reaches the server: its answer is lost
}

func (c *cutter) handle(w http.ResponseWriter, r *http.Request, pass http.Handler) {
	n := c.left.Add(-1)
	if n >= 0 {
		pass.ServeHTTP(w, r)
		return
	}
	if n == -1 && c.late.Load() {
		pass.ServeHTTP(httptest.NewRecorder(), r)
	}
	panic(http.ErrAbortHandler)
}

// uncut lets everything pass.
const uncut = 1 << 40

// life opens the log store of a node, has it take over what is in the journal, and closes
// it: as a process would that lives so long.
func life(t *testing.T, j *journal.Journal, o clickhouse.Options, dir string, use func(*requestlog.Store)) error {
	t.Helper()
	db, err := clickhouse.Open(t.Context(), o)
	if err != nil {
		return err
	}
	files, err := bodies.Open(bodies.Options{Dir: filepath.Join(dir, "bodies"), BlockBytes: 4 << 10, Node: o.Node})
	if err != nil {
		t.Fatal(err)
	}
	store := requestlog.New(j.Records(), db, files, requestlog.Options{BatchSize: 7, Node: o.Node})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Run takes over what there is and returns
	err = store.Run(ctx)
	if err == nil && use != nil {
		use(store)
	}
	if err := errors.Join(files.Close(), db.Close()); err != nil {
		t.Error(err)
	}
	return err
}

// Cut off between any two requests, before or after the server did what it was asked, the
// log has every attempt and every correction once, with its bodies.
func TestCutBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	var cut cutter
	server, address := between(t, cut.handle)
	dir := t.TempDir()
	j, err := journal.Open(journal.Options{Dir: filepath.Join(dir, "journal"), SegmentBytes: 1 << 20, MaxRecordBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }() // nothing is left in it
	o := clickhouse.Options{Server: server.Database(t), Node: j.ID()}
	o.Server.URL = address

	attempts, corrections, failures := 0, 0, 0
	add := func(n int) {
		t.Helper()
		for range n {
			if err := j.Append(recordtest.Chat(attempts)); err != nil {
				t.Fatal(err)
			}
			attempts++
		}
	}
	add(3)
	cut.left.Store(uncut)
	if err := life(t, j, o, dir, nil); err != nil {
		t.Fatal(err)
	}
	corrected := recordtest.Chat(0)
	for steps := range 24 {
		add(2)
		corrections++
		err := j.AppendCorrection(&record.Correction{
			ID: corrected.ID, Started: corrected.Started, Operation: recordtest.ID(recordtest.Epoch, corrections),
			RatedAt: recordtest.Epoch.Add(time.Duration(corrections) * time.Second), After: record.Rated{Cost: int64(1000 + corrections)},
		})
		if err != nil {
			t.Fatal(err)
		}
		cut.late.Store(steps%2 == 1)
		cut.left.Store(int64(3 + steps/2)) // what a start asks first changes nothing
		if life(t, j, o, dir, nil) != nil {
			failures++
		}
	}
	if failures < 12 {
		t.Errorf("%d lives were cut off, want most", failures)
	}
	cut.left.Store(uncut)
	err = life(t, j, o, dir, func(s *requestlog.Store) { checkLog(t, s, attempts, corrected, corrections) })
	if err != nil {
		t.Fatal(err)
	}
}

// checkLog compares the log with the chats that were appended, the first of which was
// corrected.
func checkLog(t *testing.T, s *requestlog.Store, attempts int, corrected *record.Attempt, corrections int) {
	t.Helper()
	for _, q := range []record.Query{{Count: true}, {ByArrival: true}} {
		q.OrgID, q.Limit = recordtest.Org, record.MaxLimit
		page, err := s.List(t.Context(), q)
		times := map[string]int{}
		for i := range page.Rows {
			times[page.Rows[i].ID]++
		}
		if err != nil || len(page.Rows) != attempts || len(times) != attempts || q.Count && page.Total != int64(attempts) {
			t.Fatalf("by arrival %v: %d rows of %d attempts, counted %d, %v; want %d", q.ByArrival, len(page.Rows), len(times), page.Total, err, attempts)
		}
	}
	for i := range attempts {
		chat := recordtest.Chat(i)
		got, err := s.Find(t.Context(), recordtest.Org, "", chat.ID)
		if err != nil || !bytes.Equal(got.Request.Bytes, chat.Request.Bytes) || !bytes.Equal(got.Response.Bytes, chat.Response.Bytes) {
			t.Errorf("chat %d: %d and %d bytes of bodies, %v", i, len(got.Request.Bytes), len(got.Response.Bytes), err)
		}
	}
	trail, err := s.Corrections(t.Context(), corrected.ID)
	if err != nil || len(trail) != corrections {
		t.Errorf("%d corrections, %v; want %d", len(trail), err, corrections)
	}
	got, err := s.Find(t.Context(), recordtest.Org, "", corrected.ID)
	if err != nil || got.Spend.Cost != int64(1000+corrections) {
		t.Errorf("cost %d, %v; want the last correction, %d", got.Spend.Cost, err, 1000+corrections)
	}
	page, err := s.Analyse(t.Context(), record.Analysis{
		Query: record.Query{OrgID: recordtest.Org, From: recordtest.Epoch, To: recordtest.Epoch.Add(time.Hour)}, Metrics: record.MetricCost,
	})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Requests != int64(attempts) || page.Rows[0].Cost != int64(1000+corrections) {
		t.Errorf("figures %+v, %v", page.Rows, err)
	}
}

// What a batch wrote of bodies stays where it is when the batch fails behind its rows, which
// refer to it: the next one goes on behind.
func TestBodiesOfAFailedBatchAreNotOverwritten(t *testing.T) {
	t.Parallel()
	var cut cutter
	_, address := between(t, cut.handle)
	cut.left.Store(uncut)
	db := open(t, func(o *clickhouse.Options) { o.Server.URL = address })
	if _, err := db.Progress(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := bodies.Mark{File: 1, Size: 100}
	cut.left.Store(2) // the beginning of the batch, and its rows
	err := db.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		return requestlog.Progress{Next: record.Position{Seq: 5}, BodyStore: want}, to.Add(recordtest.Chat(1), bodies.Ref{File: 1, Request: 3})
	})
	if err == nil {
		t.Fatal("stored without its end")
	}
	cut.left.Store(uncut)
	if p, err := db.Progress(t.Context()); err != nil || p.Next.Seq != 0 || p.BodyStore != want {
		t.Errorf("progress %+v, %v; want the old position and bodies up to %+v", p, err, want)
	}
	if page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org}); err != nil || len(page.Rows) != 1 {
		t.Errorf("%d rows, %v; want that of the batch", len(page.Rows), err)
	}
}
