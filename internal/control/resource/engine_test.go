package resource_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/sqlstore/storetest"
)

// widget is a kind as small as one can be.
type widget struct {
	Name  string `json:"name"`
	Width int    `json:"width,omitempty"`
}

type widgetIn struct {
	Name        string `json:"name" minLength:"1"`
	Width       int    `json:"width,omitempty" minimum:"1"`
	WorkspaceID string `json:"workspace_id,omitempty"`
}

func (s *widget) Validate() error {
	if s.Width > 100 {
		return fault.New(fault.InvalidParameter, "too wide").WithParam("width")
	}
	return nil
}

func widgets(change func(*resource.Kind[widget, widget])) *resource.Kind[widget, widget] {
	k := &resource.Kind[widget, widget]{
		Name: "shelf", Object: "shelf", Title: "shelf", Tag: "Shelves", Audited: "shelves", Path: "/shelves", Param: "slug", Slug: "sh",
		Perm: "configs", Verbs: resource.AllVerbs, Feature: "SHELVES_ENABLED", Create: widgetIn{}, Update: widgetIn{},
		View: func(_ context.Context, _ *resource.Call, r resource.Row[widget], _ bool) (widget, error) {
			return r.Value, nil
		},
	}
	if change != nil {
		change(k)
	}
	return k
}

// rig is an engine with one kind on a store of its own.
type rig struct {
	resource.Store
	engine   *resource.Engine
	features map[string]bool
	wakes    int
	trail    func() []resource.AuditRow
}

type fixed struct{}

func (fixed) Now() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) }

func newRig(t *testing.T, wrap func(resource.Store) resource.Store, kinds ...resource.Resource) *rig {
	t.Helper()
	db := storetest.Open(t, storetest.SQLite(t))
	r := &rig{Store: db, features: map[string]bool{}}
	if wrap != nil {
		r.Store = wrap(db)
	}
	r.trail = func() []resource.AuditRow {
		rows, err := db.AuditTrail(t.Context(), "org", "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	r.engine = resource.New(resource.Parts{
		Store: r.Store, Features: r.features, Clock: fixed{}, Log: slog.New(slog.DiscardHandler), Wake: func() { r.wakes++ },
		Identify: func(*http.Request) (*access.Principal, error) {
			return &access.Principal{Kind: access.ByKey, ID: "key", KeyType: access.WorkspaceService, OrgID: "org", WorkspaceID: "ws",
				Scopes: access.NewScopes(access.Allowed(access.WorkspaceService)...)}, nil
		},
		FindWorkspace: func(context.Context, resource.Reader, string, string) (resource.Record, error) {
			return resource.Record{}, fault.New(fault.NotFound, "")
		},
	}, huma.Info{Title: "test", Version: "1"}, kinds...)
	return r
}

func (r *rig) call(t *testing.T, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	r.engine.Handler().ServeHTTP(rec, httptest.NewRequest(method, "/v1"+path, strings.NewReader(body)))
	return rec
}

func (r *rig) expect(t *testing.T, status int, text, method, path, body string) {
	t.Helper()
	rec := r.call(t, method, path, body)
	if rec.Code != status || !strings.Contains(rec.Body.String(), text) {
		t.Errorf("%s %s: %d %s, want %d with %q", method, path, rec.Code, rec.Body, status, text)
	}
}

func TestFlagsSwitchRoutesOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	for _, flag := range []string{"SHELVES_ENABLED", "API_ACCESS_ENABLED"} {
		r.features[flag] = false
		r.expect(t, 403, flag, "GET", "/shelves", "")
		r.expect(t, 403, "AB03", "POST", "/shelves", `{"name": "a"}`)
		r.features[flag] = true
	}
	r.expect(t, 200, `"total":0`, "GET", "/shelves", "")
}

func TestTheTrailCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	r.features["AUDIT_LOGS_ENABLED"] = false
	r.expect(t, 200, "id", "POST", "/shelves", `{"name": "a"}`)
	r.expect(t, 400, "AB01", "POST", "/shelves", `{"name": ""}`)
	if n := len(r.trail()); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// The copies are woken after a change that was committed, and after no other.
func TestWake(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	r.expect(t, 400, "too wide", "POST", "/shelves", `{"name": "a", "width": 101}`)
	r.expect(t, 200, "data", "GET", "/shelves", "")
	if r.wakes != 0 {
		t.Errorf("woken %d times by nothing", r.wakes)
	}
	r.expect(t, 200, "slug", "POST", "/shelves", `{"name": "a", "width": 100}`)
	if r.wakes != 1 {
		t.Errorf("woken %d times by one change", r.wakes)
	}
}

// twice runs every transaction a second time, as a store may that met a conflict.
type twice struct{ resource.Store }

var errAgain = errors.New("again")

func (s twice) InTx(ctx context.Context, f func(resource.Tx) error) error {
	err := s.Store.InTx(ctx, func(tx resource.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		return errAgain
	})
	if !errors.Is(err, errAgain) {
		return err
	}
	return s.Store.InTx(ctx, f)
}

func TestATransactionMayRunTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s resource.Store) resource.Store { return twice{s} }, widgets(func(k *resource.Kind[widget, widget]) {
		k.Prepare = func(_ context.Context, c *resource.Call, ch *resource.Edit[widget]) error {
			c.Note("prepared", ch.New.Value.Width)
			ch.New.Value.Width++
			return nil
		}
	}))
	r.expect(t, 200, "slug", "POST", "/shelves", `{"name": "a", "width": 5}`)
	r.expect(t, 200, `"total":1,"data":[{"name":"a","width":6}]`, "GET", "/shelves", "")
	rows := r.trail()
	if len(rows) != 1 || !strings.Contains(string(rows[0].Body), `"prepared":5`) {
		t.Errorf("trail: %+v", rows)
	}
}

// failingStore is a store whose writer is gone.
type failingStore struct{ resource.Store }

func (failingStore) InTx(context.Context, func(resource.Tx) error) error {
	return fault.New(fault.ReadOnly, "")
}

func TestReadsGoOnWithoutTheWriter(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s resource.Store) resource.Store { return failingStore{s} }, widgets(nil))
	r.expect(t, 200, "data", "GET", "/shelves", "")
	r.expect(t, 503, "takes no writes", "POST", "/shelves", `{"name": "a"}`)
}

// broken is a store that fails in a way nobody foresaw.
type broken struct{ resource.Store }

func (broken) List(context.Context, resource.Query) ([]resource.Record, error) {
	return nil, errors.New("dial tcp 10.1.2.3:5432: refused for user root")
}

func TestFailuresTellClientsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s resource.Store) resource.Store { return broken{s} }, widgets(nil))
	rec := r.call(t, "GET", "/shelves", "")
	if rec.Code != 500 || strings.Contains(rec.Body.String(), "10.1.2.3") || rec.Header().Get("x-gateway-request-id") == "" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// No browser guesses what an answer is, and nothing keeps it: it may hold a key.
func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	for _, rec := range []*httptest.ResponseRecorder{
		r.call(t, "POST", "/shelves", `{"name": "a"}`), r.call(t, "GET", "/shelves", ""), r.call(t, "POST", "/shelves", `{}`), r.call(t, "GET", "/shelves/none", ""),
	} {
		if h := rec.Header(); h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" || h.Get("Content-Length") == "" {
			t.Errorf("%d: %v", rec.Code, h)
		}
	}
}

func TestLimitsOfABody(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	r.expect(t, 413, "larger", "POST", "/shelves", `{"name": "`+strings.Repeat("x", 1<<20)+`"}`)
	r.expect(t, 400, "deeper", "POST", "/shelves", strings.Repeat(`{"name":`, 70))
}

// Routes of one path and method that two kinds claim are a mistake at start-up.
func TestTwoKindsOnOneRoute(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("two kinds were mounted on one route")
		}
	}()
	newRig(t, nil, widgets(nil), widgets(nil))
}

// A slug as long as may be is unique in its workspace, and free when its record is gone.
func TestSlugsOfAWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(func(k *resource.Kind[widget, widget]) {
		k.SlugPerWorkspace, k.Create = true, slugIn{}
	}))
	long := strings.Repeat("s", 255)
	r.expect(t, 200, long, "POST", "/shelves", `{"name": "a", "slug": "`+long+`"}`)
	r.expect(t, 409, "AB07", "POST", "/shelves", `{"name": "b", "slug": "`+long+`"}`)
	r.expect(t, 200, `"name":"a"`, "GET", "/shelves/"+long, "")
	r.expect(t, 200, "{}", "DELETE", "/shelves/"+long, "")
	r.expect(t, 404, "AB08", "GET", "/shelves/"+long, "")
	r.expect(t, 200, long, "POST", "/shelves", `{"name": "b", "slug": "`+long+`"}`)
	r.expect(t, 200, "v1.2_a-b", "POST", "/shelves", `{"name": "c", "slug": "v1.2_a-b"}`)
	r.expect(t, 400, "letters, digits, dots, - and _", "POST", "/shelves", `{"name": "d", "slug": "-a"}`)
}

type slugIn struct {
	Name string `json:"name"`
	Slug string `json:"slug" maxLength:"255"`
}

// A query of which a part cannot be read is refused: without it the call would be about
// something else.
func TestQueryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	for _, query := range []string{"workspace_id=%zz", "workspace_id=other;x", "%=1", "page_size=1;current_page=2"} {
		r.expect(t, 400, "invalid query string", "GET", "/shelves?"+query, "")
		r.expect(t, 400, "invalid query string", "DELETE", "/shelves/none?"+query, "")
	}
	r.expect(t, 200, `"total":0`, "GET", "/shelves?page_size=1&of=%3B%25", "")
}
