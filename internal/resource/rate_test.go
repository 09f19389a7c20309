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

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/store/storetest"
)

// hand is a clock that is set by hand.
type hand struct{ now time.Time }

func (h *hand) Now() time.Time { return h.now }

// traffic is an operation that an Admin key may never call.
var traffic = resource.Operations{{
	Method: "POST", Path: "/notes", ID: "makeNote", Summary: "Make a note", Tag: "Notes", Scopes: []access.Scope{"feedbacks.write"}, Audited: "notes", Action: "create",
	Run: func(context.Context, *resource.Call) (any, error) { return resource.Empty{}, nil },
}, {
	Method: "GET", Path: "/later", ID: "later", Summary: "Answer 501", Tag: "Notes", Scopes: []access.Scope{"analytics.view"},
	Run: func(context.Context, *resource.Call) (any, error) {
		return nil, fault.New(fault.NotSupported, "not yet")
	},
}}

// Each key and each user has so many administrative calls in a minute, whatever they
// are; traffic is not among them.
func TestRate(t *testing.T) {
	t.Parallel()
	db, clock := storetest.Open(t, storetest.SQLite(t)), &hand{time.Date(2026, 11, 20, 10, 0, 20, 0, time.UTC)}
	engine := resource.New(resource.Parts{
		Store: db, Clock: clock, Log: slog.New(slog.DiscardHandler), PerMinute: 3,
		Identify: func(r *http.Request) (*access.Principal, error) {
			p := &access.Principal{
				Kind: access.PrincipalKind(r.Header.Get("by")), ID: "one", UserID: "one", OrgRole: access.Owner,
				KeyType: access.WorkspaceService, OrgID: "org", WorkspaceID: "ws", Scopes: access.NewScopes(access.Allowed(access.WorkspaceService)...),
			}
			return p, nil
		},
	}, huma.Info{Title: "test", Version: "1"}, shelves(nil), traffic)
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
	want := `{"success":false,"data":{"message":"more than 3 administrative requests in a minute; try again in 40 seconds","errorCode":"AB06"}}`
	if strings.TrimSpace(rec.Body.String()) != want || rec.Header().Get("Retry-After") != "40" || rec.Header().Get(resource.HeaderRequestID) == "" {
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
	clock.now = time.Date(2026, 11, 20, 10, 1, 0, 0, time.UTC)
	if rec := call(access.ByKey, "GET", "/v1/shelves"); rec.Code != 200 {
		t.Errorf("in the next minute: %d %s", rec.Code, rec.Body)
	}
}

// In every minute exactly as many calls pass as the limit says, and the wait that a
// refusal names is over when the minute is.
func TestRateCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		take, passed, now := resource.NewRate(limit), map[string]int{}, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "gap")) * time.Millisecond)
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
			window := key + now.Truncate(time.Minute).String()
			err := take(&access.Principal{Kind: access.ByKey, ID: key}, now)
			if (err == nil) != (passed[window] < limit) {
				t.Fatalf("call %d of %s: %v", passed[window]+1, window, err)
			}
			if err == nil {
				passed[window]++
				continue
			}
			if f := fault.From(err); f.Code != fault.RateLimited || !now.Add(f.Retry).Equal(now.Truncate(time.Minute).Add(time.Minute)) {
				t.Fatalf("%v after %v", err, f.Retry)
			}
		}
	})
}

// Without a limit nothing is counted, and more callers than there is room for pass.
func TestRateHasRoom(t *testing.T) {
	t.Parallel()
	unlimited, narrow := resource.NewRate(0), resource.NewRate(1)
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
