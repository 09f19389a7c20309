package router_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice/internal/gateway/nethttp"
	"sluice/internal/gateway/nethttp/router"
	"sluice/internal/kernel/wire"
)

var discard = slog.New(slog.DiscardHandler)

// paths are an administration that has a list of routes, each "GET /v1/configs".
type paths []string

func (p paths) Matches(method, path string) bool { return slices.Contains(p, method+" "+path) }

func (p paths) Allowed(path string) (methods []string) {
	for _, route := range p {
		if method, routePath, _ := strings.Cut(route, " "); routePath == path {
			methods = append(methods, method)
		}
	}
	return methods
}

func (p paths) Segments() (first []string) {
	for _, route := range p {
		_, routePath, _ := strings.Cut(route, " ")
		first = append(first, strings.Split(routePath, "/")[2])
	}
	return first
}

// Administration and pass-through share paths: registered routes are the administration's,
// and typed routes are never.
func TestRouter(t *testing.T) {
	t.Parallel()
	wantText := func(who string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("x-by", who) }
	}
	r := router.New(router.Options{
		Routes: paths{"POST /v1/collections", "GET /v2/configs", "GET /v1/models", "POST /v1/prompts/pp-a/render"},
		Model:  wantText("model"), Admin: wantText("admin"), Aliases: []string{"x-acme-"},
		Pages: map[string]http.HandlerFunc{"/v1/health": wantText("page")},
	})
	cases := []struct{ method, path, header, by string }{
		{"POST", "/v1/chat/completions", "", "model"},
		{"GET", "/v1/models", "", "model"},
		{"POST", "/v1/collections", "", "admin"},
		{"POST", "/v1/collections", "X-Gateway-Provider", "model"},
		{"PATCH", "/v1/collections/a/points", "X-Gateway-Virtual-Key", "model"},
		{"POST", "/v1/collections", "X-Acme-Provider", "model"},
		{"POST", "/v1/collections", "X-Acme-Config", "admin"},
		{"POST", "/v1/collections", "X-Gateway-Custom-Host", "admin"},
		{"POST", "/v1/anything/else", "", "model"},
		{"POST", "/v1/prompts/pp-a/completions", "", "model"},
		{"POST", "/v1/prompts/pp-a/render", "", "admin"},
		{"POST", "/v1/prompts/pp-a/render", "X-Gateway-Config", "admin"},
		{"GET", "/v2/configs", "", "admin"},
		{"GET", "/v2/configs", "X-Gateway-Provider", "admin"},
		{"GET", "/v1/health", "X-Gateway-Provider", "page"},
		{"GET", "/v1/health/", "", "page"},
		{"GET", "/v1/files/a%2Fb", "", "model"},
		{"POST", "/openai/v1/chat/completions", "", "model"},
		{"POST", "/openai/deployments/gpt-4o/chat/completions", "", "model"},
		{"GET", "/openai/v1/models", "", "model"},
		{"POST", "/v1beta/models/gemini-2.5-flash:generateContent", "", "model"},
		{"POST", "/v2/chat", "", "model"},
		{"POST", "/model/m/converse", "", "model"},
		{"GET", "/openai", "", ""},
		{"GET", "/v2/chats", "", ""},
		{"GET", "/nothing", "", ""},
		{"GET", "/nothing", "X-Gateway-Provider", "model"},
	}
	for _, c := range cases {
		req := httptest.NewRequest(c.method, c.path, nil)
		if c.header != "" {
			req.Header.Set(c.header, "openai")
		}
		w := httptest.NewRecorder()
		router.Recover(r, discard).ServeHTTP(w, req)
		if got := w.Header().Get("x-by"); got != c.by || c.by == "" && w.Code != http.StatusNotFound {
			t.Errorf("%s %s %s: answered by %q with %d", c.method, c.path, c.header, got, w.Code)
		}
		if isModel := r.IsModelRoute(c.method, c.path, nethttp.Header(req)); isModel != (c.by == "model") {
			t.Errorf("%s %s %s: the HTTP/1.1 server's: %v", c.method, c.path, c.header, isModel)
		}
	}
}

// A client whose base URL lacks its end is told so, in the member that official clients show.
func TestNowhere(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Routes: paths{}})
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/chat/completions", "but /v1/chat/completions exists; end the base URL of the client with /v1"},
		{"GET", "/models", "but /v1/models exists; "},
		{"GET", "/chat/completions", "begin with /v1"},
		{"POST", "/opena1/v1/responses", "begin with /v1"},
		{"GET", "/" + strings.Repeat("a", 500), "a…; model routes"},
	} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		var body struct {
			Message string
			OK      *bool
			Error   struct{ Message, Type string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusNotFound {
			t.Fatalf("%s %s: %d %s %v", c.method, c.path, w.Code, w.Body, err)
		}
		if !strings.Contains(body.Error.Message, c.want) || body.Message != body.Error.Message || body.Error.Type != "not_found_error" || body.OK == nil || *body.OK {
			t.Errorf("%s %s: %s", c.method, c.path, w.Body)
		}
	}
}

// The HTTP/1.1 server leaves to net/http what it would have to read in another way.
func TestNotTheFastFronts(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Routes: paths{"POST /v1/keys"}, CORS: true})
	for _, c := range []struct {
		path         string
		header       wire.Header
		isModelRoute bool
	}{
		{"/v1/things", nil, true},
		{"/v1/keys", nil, false},
		{"/v1/k%65ys", nil, false},
		{"/v1/things%2Fof%2Fmine", nil, true},
		{"/v1/things%", nil, false},
		{"/v1/things", wire.Header{{Name: "origin", Value: "https://app.example"}}, false},
	} {
		if got := r.IsModelRoute("POST", c.path, c.header); got != c.isModelRoute {
			t.Errorf("%s %v: %v", c.path, c.header, got)
		}
	}
}

func TestEdgeTurnsPanicsInto500(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	router.Recover(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") }), discard).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 500 || w.Body.Len() == 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
