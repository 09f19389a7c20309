package router

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/control"
	"sluice/internal/control/logs"
	"sluice/internal/gateway/nethttp"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// routed is a router of the whole administration, with a mark in place of the data plane and of
// the administration.
type routed struct {
	*Router
	routes []string // "GET /configs/{slug}"
	t      *testing.T
}

func newRouted(t *testing.T) routed {
	t.Helper()
	mark := func(by string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("x-by", by) }
	}
	a := control.New(control.Parts{Clock: ident.System{}, Version: "1"})
	pages := map[string]http.HandlerFunc{"/": mark("page"), "/health": mark("page"), "/v1/health": mark("page")}
	for _, route := range logs.TelemetryPaths() {
		pages["/v1"+route.Path], pages["/v2"+route.Path] = mark("page"), mark("page")
	}
	o := Options{Model: mark("model"), Admin: mark("admin"), Routes: a, Pages: pages, Aliases: []string{"x-acme-"}}
	return routed{New(o), a.Routes(), t}
}

// ask sends a request with header lines. Both servers must agree about it.
func (r routed) ask(method, path string, lines ...string) (by string, w *httptest.ResponseRecorder) {
	r.t.Helper()
	req := httptest.NewRequest(method, path, nil)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	w = httptest.NewRecorder()
	r.ServeHTTP(w, req)
	by = w.Header().Get("x-by")
	if isModel := r.IsModelRoute(method, path, nethttp.Header(req)); isModel != (by == "model") {
		r.t.Errorf("%s %s %q: the HTTP/1.1 server's: %v, answered by %q", method, path, lines, isModel, by)
	}
	return by, w
}

// filled is a route with something in each of its placeholders.
func filled(path string) string {
	var b strings.Builder
	for segment := range strings.SplitSeq(path[1:], "/") {
		if strings.HasPrefix(segment, "{") {
			segment = "x1"
		}
		b.WriteString("/" + segment)
	}
	return b.String()
}

// selecting are the headers that select a provider, each with what it makes of /collections.
var selecting = []struct {
	lines       []string
	collections string
}{
	{nil, "admin"},
	{[]string{"x-gateway-provider: @x"}, "model"},
	{[]string{"x-gateway-provider: openai", "authorization: Bearer sk-mine"}, "model"},
	{[]string{"x-gateway-virtual-key: x"}, "model"},
	{[]string{"x-gateway-config: pc-x"}, "admin"},
	{[]string{`x-gateway-config: {"provider":"@x","passthrough":true}`}, "admin"},
	{[]string{"x-gateway-custom-host: https://models.example/v1"}, "admin"},
	{[]string{"x-acme-provider: @x"}, "model"},
	{[]string{"x-acme-virtual-key: x"}, "model"},
	{[]string{"x-acme-config: pc-x"}, "admin"},
	{[]string{"x-gateway-provider: "}, "admin"},
	{[]string{"x-gateway-provider: @x", "x-gateway-virtual-key: x", "x-gateway-config: pc-x", "x-gateway-custom-host: https://models.example/v1", "x-gateway-passthrough: false"}, "model"},
	{[]string{"x-gateway-passthrough: 1"}, "admin"},
}

// Every registered route of the administration is its own, whatever headers select a
// provider; /collections alone is shared, by specification.
func TestRegisteredRoutesStayHere(t *testing.T) {
	t.Parallel()
	r := newRouted(t)
	if len(r.routes) < 100 {
		t.Fatalf("%d routes", len(r.routes))
	}
	for _, route := range r.routes {
		method, path, _ := strings.Cut(route, " ")
		path = filled(path)
		shared := path == "/collections" || strings.HasPrefix(path, "/collections/")
		for _, version := range []string{"/v1", "/v2"} {
			for _, s := range selecting {
				want := "admin"
				if shared {
					want = s.collections
				}
				for _, variant := range []string{version + path, version + path + "/", version + "/%" + hexOf(path[1]) + path[2:]} {
					if by, _ := r.ask(method, variant, s.lines...); by != want {
						t.Errorf("%s %s %q: answered by %q, want %s", method, variant, s.lines, by, want)
					}
				}
			}
			for _, name := range []string{"x-gateway-passthrough: true", "x-acme-passthrough: TRUE"} {
				if by, _ := r.ask(method, version+path, name); by != "model" {
					t.Errorf("%s %s %s: answered by %q", method, version+path, name, by)
				}
			}
		}
	}
	for _, page := range []string{"/docs", "/v1/openapi.json", "/v2/openapi.json"} {
		for _, s := range selecting {
			if by, _ := r.ask("GET", page, s.lines...); by != "admin" {
				t.Errorf("%s %q: answered by %q", page, s.lines, by)
			}
		}
	}
}

func hexOf(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}

// refused fails the test unless an answer is a refusal of the administration.
func refused(t *testing.T, what string, by string, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	var body struct {
		Success *bool
		Data    struct{ Message, ErrorCode string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); by != "" || w.Code != status || err != nil || body.Success == nil || *body.Success || body.Data.ErrorCode != "AB08" || body.Data.Message == "" {
		t.Errorf("%s: by %q, %d %s", what, by, w.Code, w.Body)
	}
}

// What looks like a route of the administration and is none never leaves the gateway,
// however it is spelt and whatever headers select a provider.
func TestMistypedRoutesStayHere(t *testing.T) {
	t.Parallel()
	r := newRouted(t)
	for _, route := range r.routes {
		method, path, _ := strings.Cut(route, " ")
		path = filled(path)
		last := strings.LastIndexByte(path, '/')
		spellings := map[string]string{
			"one segment more":      path + "/x/y/z",
			"a slash twice":         "/" + path,
			"a slash twice at last": path + "//",
			"a slash twice inside":  path[:last] + "/" + path[last:],
			"an encoded slash":      path[:last] + "%2F" + path[last+1:],
			"other capitals":        strings.ToUpper(path),
			"a dot segment":         "/." + path,
			"two dots":              "/x/.." + path,
			"two dots after it":     path + "/../../x/y/z/q",
			"encoded dots":          "/x/%2e%2e" + path,
			"a second version":      "/v1" + path,
			"a blank at its end":    "/" + firstOf(path) + "%20/x/y/z",
			"a backslash":           "/%5C" + strings.TrimPrefix(path, "/") + "/x/y/z",
			"escapes twice":         "/" + strings.ReplaceAll(firstOf(path), "-", "%252D") + "/x/y/z",
			"a parameter":           "/" + firstOf(path) + ";a=b/x/y/z",
			"a file extension":      "/" + firstOf(path) + ".json",
			"another extension":     "/" + firstOf(path) + ".v2.yaml/x/y/z",
			"a trailing dot":        "/" + firstOf(path) + "./x/y/z",
			"an ampersand":          "/" + firstOf(path) + "&a=b",
			"an encoded ampersand":  "/" + firstOf(path) + "%26a=b/x/y/z",
			"a colon":               "/" + firstOf(path) + ":list",
			"an equals sign":        "/" + firstOf(path) + "=x/x/y/z",
			"a comma":               "/" + firstOf(path) + ",x",
			"a zero byte":           "/" + firstOf(path) + "%00/x/y/z",
			"an invisible letter":   "/" + firstOf(path) + "%E2%80%8B/x/y/z",
			"an encoded query":      "/" + firstOf(path) + "%3Fa=b",
		}
		for name, spelling := range spellings {
			for _, s := range selecting {
				if s.collections == "model" && strings.Contains(path, "collections") {
					continue
				}
				by, w := r.ask(method, "/v1"+spelling, s.lines...)
				switch {
				case by == "admin" && name != "a slash twice" && r.o.Routes.Matches(method, "/v1"+spelling):
				case w.Code == http.StatusMethodNotAllowed:
					refused(t, name+" "+spelling, by, w, http.StatusMethodNotAllowed)
				default:
					refused(t, name+" "+method+" "+spelling+strings.Join(s.lines, ", "), by, w, http.StatusNotFound)
				}
			}
		}
		if !strings.HasPrefix(path, "/deployments") && !strings.Contains(path, "collections") { // Azure has paths of that name
			for _, prefix := range []string{"/openai/v1", "/openai", "/v1/openai/v1"} {
				by, w := r.ask(method, prefix+path+"/x/y/z", "x-gateway-provider: @x")
				refused(t, "below "+prefix+path, by, w, http.StatusNotFound)
			}
		}
		for _, s := range selecting {
			if s.collections == "model" && strings.Contains(path, "collections") {
				continue
			}
			for _, prefix := range []string{"/v3", "/v10", "/v1beta", "/v1alpha1", "/api/v1", "/API/v2", "/api", "/v1/api", "/api/openai/v1"} {
				if prefix == "/api/openai/v1" && strings.HasPrefix(path, "/deployments") {
					continue // Azure has paths of that name
				}
				by, w := r.ask(method, prefix+path, s.lines...)
				refused(t, prefix+path+strings.Join(s.lines, ", "), by, w, http.StatusNotFound)
			}
			if first := firstOf(path); strings.Contains(first, "-") {
				spelling := "/v1/" + strings.ReplaceAll(first, "-", "_") + strings.TrimPrefix(path, "/"+first)
				by, w := r.ask(method, spelling, s.lines...)
				if by != "admin" || !r.o.Routes.Matches(method, spelling) { // one of them has both spellings
					refused(t, spelling+strings.Join(s.lines, ", "), by, w, http.StatusNotFound)
				}
			}
		}
		if by, w := r.ask(method, path, "x-gateway-provider: @x"); !strings.Contains(path, "collections") && !strings.HasPrefix(path, "/model-configs/") {
			refused(t, "without a version "+path, by, w, http.StatusNotFound)
		}
	}
}

// A wrong method is 405 with those that there are.
func TestWrongMethodsAreNamed(t *testing.T) {
	t.Parallel()
	r := newRouted(t)
	has := map[string][]string{}
	for _, route := range r.routes {
		method, path, _ := strings.Cut(route, " ")
		has[filled(path)] = append(has[filled(path)], method)
	}
	for path := range has {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"} {
			if r.o.Routes.Matches(method, "/v1"+path) {
				continue
			}
			for _, s := range selecting {
				if s.collections == "model" && strings.HasPrefix(path, "/collections") {
					continue
				}
				by, w := r.ask(method, "/v1"+path+"/", s.lines...)
				refused(t, method+" "+path, by, w, http.StatusMethodNotAllowed)
				allow := strings.Split(w.Header().Get("Allow"), ", ")
				for _, m := range has[path] {
					if !slices.Contains(allow, m) {
						t.Errorf("%s %s: Allow is %q, without %s", method, path, allow, m)
					}
				}
			}
		}
	}
	if by, w := r.ask("GET", "/v1/prompts/pp-x/completions", "x-gateway-provider: @x"); by != "" || w.Code != 405 || w.Header().Get("Allow") != "POST" {
		t.Errorf("by %q, %d, Allow %q", by, w.Code, w.Header().Get("Allow"))
	}
}

// slips are a segment with one letter left out, doubled, replaced or exchanged with the next.
func slips(s string) (out []string) {
	for i := range s {
		out = append(out, s[:i]+s[i+1:], s[:i]+s[i:i+1]+s[i:], s[:i]+"z"+s[i+1:], s[:i]+"-"+s[i:])
		if i > 0 && s[i] != s[i-1] {
			out = append(out, s[:i-1]+s[i:i+1]+s[i-1:i]+s[i+1:])
		}
	}
	return append(out, s+"z")
}

// A first segment that is one edit from one of the administration is taken for it, unless a
// header names a provider or the data plane has it.
func TestSlipsOfTheFirstSegment(t *testing.T) {
	t.Parallel()
	r := newRouted(t)
	tried := 0
	for segment := range r.segments {
		for _, slip := range slips(segment) {
			if r.segments[slip] != "" || modelSegments[slip] || slip == "" || slip[0] == '.' {
				continue
			}
			tried++
			for _, path := range []string{"/v1/" + slip, "/v2/" + slip + "/x", "/v1/" + slip + ".json", "/v1/" + slip + ";a=b/x", "/v1/" + slip + "&a=b", "/v1/" + slip + "/../x"} {
				for _, lines := range [][]string{nil, {"x-gateway-config: pc-x"}, {"x-gateway-custom-host: https://models.example"}} {
					by, w := r.ask("POST", path, lines...)
					refused(t, path, by, w, http.StatusNotFound)
				}
				for _, line := range []string{"x-gateway-provider: @x", "x-gateway-virtual-key: x", "x-gateway-passthrough: true"} {
					if by, _ := r.ask("POST", path, line); by != "model" {
						t.Errorf("%s %s: answered by %q", path, line, by)
					}
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("%d slips were tried", tried)
	}
	if _, w := r.ask("POST", "/v1/api-keyz"); !strings.Contains(w.Body.String(), "did you mean /v1/api-keys?") {
		t.Errorf("%s", w.Body)
	}
}

// Real model routes, vendors' own paths and the families that clients pass through are the
// data plane's, with and without headers.
func TestModelRoutesAreNotTakenForSlips(t *testing.T) {
	t.Parallel()
	r := newRouted(t)
	calls := []string{
		"POST /openai/v1/chat/completions", "POST /openai/deployments/gpt-4o/chat/completions", "GET /openai/deployments", "GET /openai/models",
		"POST /v1beta/models/gemini-2.5-flash:generateContent", "POST /v1alpha/models/x:generateContent", "POST /v1beta1/projects/p/locations/l", "POST /upload/v1beta/files",
		"POST /v2/chat", "POST /v2/embed", "POST /v2/rerank", "POST /model/m/converse", "POST /v1/proxy/logs", "POST /proxy/configs", "POST /v1/v1/chat/completions",
		"POST /v1/chat/complet%69ons", "POST /v1/chat//completions/",
	}
	for _, route := range llm.Routes {
		path := strings.ReplaceAll(route.Path, "{id}", "a%2Fb")
		calls = append(calls, route.Method+" /v1"+path, "PATCH /v1"+strings.ReplaceAll(path, "/prompts/", "/x/"))
	}
	for _, family := range strings.Fields("assistants threads vector_stores containers conversations evals videos uploads webhooks chatkit skills images/variations audio/voices fine-tunes " +
		"organization projects engines agents libraries fim/completions connectors datasets embed-jobs classify tokenize detokenize credits key keys generation voices text-to-speech predictions trainings " +
		"accounts inference jobs tables search points aliases cluster indexes query upsert api/chat api/tags serving-endpoints") {
		calls = append(calls, "GET /v1/"+family, "POST /v1/"+family+"/x")
	}
	for _, call := range calls {
		method, path, _ := strings.Cut(call, " ")
		for _, s := range selecting {
			if by, w := r.ask(method, path, s.lines...); by != "model" {
				t.Errorf("%s %q: answered by %q, %d %s", call, s.lines, by, w.Code, w.Body)
			}
		}
	}
}

// With x-gateway-passthrough nothing of a provider is out of reach.
func TestPassthroughReachesEveryPath(t *testing.T) {
	t.Parallel()
	r := newRouted(t)
	for _, path := range []string{"/", "/health", "/v1/health", "/docs", "/v1/otel/v1/traces", "/v1/otel", "/v1/logs", "/v1//logs", "/v1/logz", "/logs", "/nothing", "/v1/collections/x/points"} {
		if by, _ := r.ask("POST", path, "x-gateway-passthrough: true"); by != "model" {
			t.Errorf("%s: answered by %q", path, by)
		}
	}
	for _, path := range []string{"/v1/otel/v1/metrics", "/v1/logs/otel/v1/x", "/v1/otel/x"} {
		by, w := r.ask("POST", path, "x-gateway-provider: @x")
		refused(t, path, by, w, http.StatusNotFound)
	}
}

// The page on pass-through lists every segment that stays in the gateway.
func TestPassThroughPageListsTheSegments(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/pass-through.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, segment := range newRouted(t).segments {
		if !strings.Contains(string(page), "`/v1/"+segment+"`") {
			t.Errorf("docs/pass-through.md does not list /v1/%s", segment)
		}
	}
}

// Deciding who answers a call of a model, or one that is passed through, allocates no more than
// finding its typed route does.
func TestRoutingModelCallsAllocatesNothing(t *testing.T) {
	r := newRouted(t)
	h := wire.Header{{Name: "x-gateway-provider", Value: "@x"}, {Name: "content-type", Value: "application/json"}}
	for _, path := range []string{"/v1/chat/completions", "/v1/vector_stores/VS_1/files", "/v1beta/models/m:generateContent"} {
		typed := testing.AllocsPerRun(100, func() { nethttp.Typed("POST", path) })
		if n := testing.AllocsPerRun(100, func() { r.IsModelRoute("POST", path, h) }); n > typed {
			t.Errorf("%s: %v allocations, want %v", path, n, typed)
		}
	}
}
