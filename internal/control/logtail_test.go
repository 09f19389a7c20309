package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
)

// event is one of a tail's.
type event struct{ kind, id, data string }

// follower reads a tail.
type follower struct {
	t    *testing.T
	body *bufio.Scanner
	stop context.CancelFunc
}

// follow opens a tail, which must be had.
func follow(t *testing.T, url, key, last string) *follower {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-gateway-api-key", key)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %d %s", url, res.StatusCode, res.Header.Get("Content-Type"))
	}
	return &follower{t, bufio.NewScanner(res.Body), stop}
}

// next is the next event; comments are passed over. An empty one is the end.
func (f *follower) next() (e event) {
	f.t.Helper()
	for f.body.Scan() {
		name, value, _ := strings.Cut(f.body.Text(), ": ")
		switch name {
		case "event":
			e.kind = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e != (event{}) {
				return e
			}
		}
	}
	return e
}

// row is the id of the attempt that the next event must tell of.
func (f *follower) row() (id string, e event) {
	f.t.Helper()
	e = f.next()
	var row struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(e.data), &row); err != nil || e.kind != "log" || e.id == "" {
		f.t.Fatalf("got %+v, %v; want a row", e, err)
	}
	return row.ID, e
}

// put adds an attempt that just ended.
func (w *world) putLog(t *testing.T, change func(*record.Attempt)) string {
	t.Helper()
	now := w.clock.Now()
	a := record.Attempt{
		ID: ident.NewID(), OrgID: w.org, WorkspaceID: w.names.values["main"], Started: now.Add(-time.Second), Duration: time.Second, Status: 200,
		Provider: "openai", Model: "gpt-4o", Endpoint: "chatComplete", Outcome: record.OK,
	}
	a.RequestID = a.ID
	change(&a)
	w.logs.mu.Lock()
	if w.logs.late == nil {
		w.logs.late = make(map[string]time.Time)
	}
	w.logs.late[a.ID] = now
	w.logs.mu.Unlock()
	if err := w.logs.Append(&a); err != nil {
		t.Fatal(err)
	}
	return a.ID
}

func plain(*record.Attempt) {}

// A tail tells of what comes after it began, by its filters and what its caller may see;
// who comes back with the last id misses nothing and sees nothing twice.
func TestTail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	srv := httptest.NewServer(w.admin.Handler())
	t.Cleanup(srv.Close)
	w.putLog(t, plain)
	w.clock.wait(t, "1m")
	all := follow(t, srv.URL+"/v1/logs/stream", w.key("service"), "")
	failed := follow(t, srv.URL+"/v1/logs/stream?status_code=5xx", w.key("admin"), "")
	first := w.putLog(t, plain)
	w.putLog(t, func(a *record.Attempt) { a.WorkspaceID = w.names.values["second"] })
	w.putLog(t, func(a *record.Attempt) { a.OrgID = w.names.values["other-org"] })
	long := w.putLog(t, func(a *record.Attempt) { a.Started, a.Duration = a.Started.Add(-time.Hour), time.Hour })
	bad := w.putLog(t, func(a *record.Attempt) { a.Status = 503 })
	var last event
	for _, want := range []string{first, long, bad} {
		got, e := all.row()
		if got != want {
			t.Fatalf("got %s, want %s of %v", got, want, []string{first, long, bad})
		}
		if got == first {
			last = e
		}
	}
	if got, _ := failed.row(); got != bad {
		t.Errorf("got %s, want the failed %s", got, bad)
	}
	all.stop()
	missed := w.putLog(t, plain)
	again := follow(t, srv.URL+"/v1/logs/stream", w.key("service"), last.id)
	for _, want := range []string{long, bad, missed} {
		if got, _ := again.row(); got != want {
			t.Fatalf("behind the first: got %s, want %s of %v", got, want, []string{long, bad, missed})
		}
	}
	for _, bad := range []string{"/v1/logs/stream?last_event_id=here", "/v1/logs/stream?status_code=many", "/v1/logs/stream?statuscode=200"} {
		req := httptest.NewRequest(http.MethodGet, bad, nil)
		req.Header.Set("x-gateway-api-key", w.key("service"))
		out := httptest.NewRecorder()
		w.admin.Handler().ServeHTTP(out, req)
		if out.Code != 400 {
			t.Errorf("%s: %d %s", bad, out.Code, out.Body)
		}
	}
}

// A tail ends when its caller may not read any more, and says so; there are only so many.
func TestTailEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	srv := httptest.NewServer(w.admin.Handler())
	t.Cleanup(srv.Close)
	url := srv.URL + "/v1/logs/stream"
	f := follow(t, url, w.key("user"), "")
	id := w.putLog(t, plain)
	if got, _ := f.row(); got != id {
		t.Fatalf("got %s, want %s", got, id)
	}
	var waiting *follower
	for range 9 {
		waiting = follow(t, url, w.key("service"), "")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-gateway-api-key", w.key("service"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // its status is enough
	if res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
		t.Errorf("the eleventh: %d, retry after %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	if err := w.store.InTx(t.Context(), func(tx resource.Tx) error {
		rec, err := tx.Find(t.Context(), "api_key", w.names.values["user-key"])
		if err != nil {
			return err
		}
		rec.Status = resource.Archived
		return tx.Update(t.Context(), rec)
	}); err != nil {
		t.Fatal(err)
	}
	if e := f.next(); e.kind != "end" || e.id != "" || !strings.Contains(e.data, `"reason":"refused"`) {
		t.Errorf("a revoked key's tail: %+v", e)
	}
	if e := f.next(); e != (event{}) {
		t.Errorf("behind the end: %+v", e)
	}
	w.draining.Store(true)
	if e := waiting.next(); e.kind != "end" || !strings.Contains(e.data, `"reason":"stopping"`) {
		t.Errorf("before the program stops: %+v", e)
	}
}
