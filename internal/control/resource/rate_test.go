package resource_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"pgregory.net/rapid"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/sqlstore/storetest"
)

// hand is a clock that is set by hand.
type hand struct{ now time.Time }

func (h *hand) Now() time.Time { return h.now }

// traffic is an operation that an Admin key may never call.
var traffic = resource.Operations{{
	Method: "POST", Path: "/notes", ID: "makeNote", Summary: "Make a note", Tag: "Notes", Scopes: []access.Scope{"feedbacks.write"}, Audited: "notes", Action: "create",
	Run: func(context.Context, *resource.Call) (any, error) { return resource.Empty{}, nil },
}, {
	Method: "POST", Path: "/many", ID: "many", Summary: "Make notes", Tag: "Notes", Scopes: []access.Scope{"feedbacks.write"}, Body: struct{}{}, Many: 100,
	Run: func(context.Context, *resource.Call) (any, error) { return resource.Empty{}, nil },
}, {
	Method: "GET", Path: "/later", ID: "later", Summary: "Answer 501", Tag: "Notes", Scopes: []access.Scope{"analytics.view"},
	Run: func(context.Context, *resource.Call) (any, error) {
		return nil, fault.New(fault.NotSupported, "not yet")
	},
}}

// Each key and each user has so many administrative calls at once, whatever they are, and
// the next ones at a pace; traffic is not among them.
func TestRate(t *testing.T) {
	t.Parallel()
	db, clock := storetest.Open(t, storetest.SQLite(t)), &hand{time.Date(2026, 11, 20, 10, 0, 20, 0, time.UTC)}
	engine := resource.New(resource.Parts{
		Store: db, Clock: clock, Log: slog.New(slog.DiscardHandler), PerMinute: 15,
		Identify: func(r *http.Request) (*access.Principal, error) {
			p := &access.Principal{
				Kind: access.PrincipalKind(r.Header.Get("by")), ID: "one", UserID: "one", OrgRole: access.Owner,
				KeyType: access.WorkspaceService, OrgID: "org", WorkspaceID: "ws", Scopes: access.NewScopes(access.Allowed(access.WorkspaceService)...),
			}
			return p, nil
		},
	}, huma.Info{Title: "test", Version: "1"}, widgets(nil), traffic)
	call := func(by access.PrincipalKind, method, path string) *httptest.ResponseRecorder {
		r, rec := httptest.NewRequest(method, path, strings.NewReader(`{"name": "a"}`)), httptest.NewRecorder()
		r.Header.Set("by", string(by))
		engine.Handler().ServeHTTP(rec, r)
		return rec
	}
	for i, want := range []int{200, 404, 200, 429, 429} {
		method, path := "POST", "/v1/shelves"
		if i == 1 {
			method, path = "GET", "/v2/shelves/none"
		}
		if rec := call(access.ByKey, method, path); rec.Code != want {
			t.Errorf("call %d: %d %s", i, rec.Code, rec.Body)
		}
	}
	rec := call(access.ByKey, "GET", "/v1/shelves")
	want := `{"success":false,"data":{"message":"rate limit exceeded: 15 administrative requests per minute, 3 at once; retry in 5 seconds","errorCode":"AB06"}}`
	if strings.TrimSpace(rec.Body.String()) != want || rec.Header().Get("Retry-After") != "5" || rec.Header().Get(resource.HeaderRequestID) == "" {
		t.Errorf("%v %s", rec.Header(), rec.Body)
	}
	if rows, err := db.AuditTrail(t.Context(), "org", "", 100); err != nil || len(rows) != 2 {
		t.Errorf("%d rows of two writes, %v", len(rows), err)
	}
	if rec := call(access.BySession, "GET", "/v1/later"); rec.Code != 501 {
		t.Errorf("a user who happens to have the same id: %d", rec.Code)
	}
	if rec := call(access.ByKey, "POST", "/v1/notes"); rec.Code != 200 {
		t.Errorf("traffic: %d", rec.Code)
	}
	for i, want := range []int{200, 429} {
		if i == 0 {
			clock.now = clock.now.Add(5 * time.Second)
		}
		if rec := call(access.ByKey, "GET", "/v1/shelves"); rec.Code != want {
			t.Errorf("call %d behind the wait: %d %s", i, rec.Code, rec.Body)
		}
	}
}

// Traffic is counted by its entries, and for the workspace, whatever number of keys it has.
func TestTrafficIsRatedByWorkspace(t *testing.T) {
	t.Parallel()
	clock := &hand{time.Date(2026, 11, 20, 10, 0, 20, 0, time.UTC)}
	engine := resource.New(resource.Parts{
		Store: storetest.Open(t, storetest.SQLite(t)), Clock: clock, Log: slog.New(slog.DiscardHandler), Ingest: resource.NewRate(75, "entries"),
		Identify: func(r *http.Request) (*access.Principal, error) {
			return &access.Principal{
				Kind: access.ByKey, ID: r.Header.Get("key"), KeyType: access.WorkspaceService, OrgID: "org", WorkspaceID: r.Header.Get("at"),
				Scopes: access.NewScopes(access.Allowed(access.WorkspaceService)...),
			}, nil
		},
	}, huma.Info{Title: "test", Version: "1"}, traffic)
	for i, c := range []struct {
		key, workspace, body string
		want                 int
	}{
		{"one", "ws", `[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]`, 200}, // 20 of 15 at once
		{"two", "ws", `{}`, 429},
		{"three", "other", `{}`, 200},
	} {
		r, rec := httptest.NewRequest("POST", "/v1/many", strings.NewReader(c.body)), httptest.NewRecorder()
		r.Header.Set("key", c.key)
		r.Header.Set("at", c.workspace)
		engine.Handler().ServeHTTP(rec, r)
		if rec.Code != c.want || (c.want == 429) != (rec.Header().Get("Retry-After") == "6") {
			t.Errorf("call %d: %d %s after %s", i, rec.Code, rec.Body, rec.Header().Get("Retry-After"))
		}
	}
}

// rateOf takes calls at so many a minute.
func rateOf(limit int) func(*access.Principal, time.Time) error {
	r := resource.NewRate(limit, "calls")
	return func(p *access.Principal, now time.Time) error { return r.Take(p.Actor(), now) }
}

// What a call holds counts when it is known, and what is long counts as several: the next one
// waits for as long as all that takes, and not a moment longer.
func TestRateWeighs(t *testing.T) {
	t.Parallel()
	r, now := resource.NewRate(75, "entries"), time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) // 15 at once, one a second
	if err := r.Take("a", now); err != nil {
		t.Fatal(err)
	}
	r.Add("a", 20, 24*16<<10+1, now) // 25
	if f := fault.From(r.Take("a", now)); f.Code != fault.RateLimited || f.Retry != 11*time.Second {
		t.Errorf("%v after %v", f, f.Retry)
	}
	if err := r.Take("b", now); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	if err := r.Take("a", now.Add(11*time.Second)); err != nil {
		t.Error(err)
	}
	var none *resource.Rate
	none.Add("a", 2, 0, now)
	if none.Take("a", now) != nil {
		t.Error("refused without a limit")
	}
}

// In no minute do more calls pass than the limit says, and a call passes when the wait is over
// that a refusal names, and not before.
func TestRateCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		take, passed, now := rateOf(limit), map[string][]time.Time{}, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 300).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5_000).Draw(t, "gap")) * time.Millisecond)
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
			p := &access.Principal{Kind: access.ByKey, ID: key}
			if err := take(p, now); err != nil {
				f := fault.From(err)
				if f.Code != fault.RateLimited || f.Retry <= 0 || f.Retry > time.Minute {
					t.Fatalf("%v after %v", err, f.Retry)
				}
				if take(p, now.Add(f.Retry-1)) == nil {
					t.Fatalf("one came before %v were over", f.Retry)
				}
				if now = now.Add(f.Retry); take(p, now) != nil {
					t.Fatalf("refused when %v were over", f.Retry)
				}
			}
			passed[key] = append(passed[key], now)
			if n := len(passed[key]); n > limit && now.Sub(passed[key][n-1-limit]) < time.Minute-time.Microsecond {
				t.Fatalf("%d calls of %s in %v", limit+1, key, now.Sub(passed[key][n-1-limit]))
			}
		}
	})
}

// A caller has the whole limit in a minute: a burst, and then one call after the other. One that
// kept still has a whole burst again.
func TestRateIsWhole(t *testing.T) {
	t.Parallel()
	take, now := rateOf(300), time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	p := &access.Principal{Kind: access.ByKey, ID: "a"}
	for range 3 {
		for i := range 60 {
			if err := take(p, now); err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		if take(p, now) == nil {
			t.Fatal("61 at once")
		}
		for i := range 240 {
			now = now.Add(time.Minute / 240)
			if err := take(p, now); err != nil {
				t.Fatalf("call %d behind the burst: %v", i, err)
			}
		}
		now = now.Add(time.Minute)
	}
}

// Without a limit nothing is counted, and more callers than there is room for pass.
func TestRateHasRoom(t *testing.T) {
	t.Parallel()
	unlimited, narrow := rateOf(0), rateOf(1)
	for i := range resource.MaxCallers + 1 {
		p := &access.Principal{Kind: access.ByKey, ID: fmt.Sprint(i)}
		if unlimited(&access.Principal{Kind: access.ByKey, ID: "0"}, time.Time{}) != nil || narrow(p, time.Time{}) != nil {
			t.Fatal("refused")
		}
	}
	if narrow(&access.Principal{Kind: access.ByKey, ID: "0"}, time.Time{}) == nil {
		t.Error("a caller that was counted is forgotten")
	}
	if narrow(&access.Principal{Kind: access.ByKey, ID: fmt.Sprint(resource.MaxCallers)}, time.Time{}) != nil {
		t.Error("a caller without room is refused")
	}
}

// What this gateway does not do yet is no failure of it.
func TestWhatIsLoggedAsAnError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	engine := resource.New(resource.Parts{
		Store: storetest.Open(t, storetest.SQLite(t)), Clock: fixed{}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Identify: func(r *http.Request) (*access.Principal, error) {
			if r.Header.Get("fail") != "" {
				return nil, context.DeadlineExceeded
			}
			return &access.Principal{Kind: access.BySession, OrgRole: access.Owner, OrgID: "org"}, nil
		},
	}, huma.Info{Title: "test", Version: "1"}, traffic)
	for _, fail := range []string{"", "yes"} {
		r, rec := httptest.NewRequest("GET", "/v1/later", http.NoBody), httptest.NewRecorder()
		r.Header.Set("fail", fail)
		engine.Handler().ServeHTTP(rec, r)
		if want := map[string]int{"": 501, "yes": 500}[fail]; rec.Code != want || strings.Contains(log.String(), "level=ERROR") != (want == 500) {
			t.Errorf("%d, log: %s", rec.Code, log.String())
		}
	}
}
