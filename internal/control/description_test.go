package control_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"sluice/internal/control"
	"sluice/internal/control/logs"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
)

// described holds answers against the published description.
type described struct{ doc *openapi3.T }

func newDescribed(t *testing.T, a *control.Admin) *described {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(a.Description())
	if err != nil {
		t.Fatalf("the description cannot be read: %v", err)
	}
	return &described{doc}
}

// check holds the answer to a call against what the description says of it.
func (d *described) check(t *testing.T, r *http.Request, rec *httptest.ResponseRecorder) {
	t.Helper()
	op := d.find(r)
	if op == nil {
		t.Errorf("%s %s is not described", r.Method, r.URL.Path)
		return
	}
	response := op.Responses.Value("default")
	if rec.Code == http.StatusOK {
		response = op.Responses.Value("200")
	}
	if contentType := rec.Header().Get("Content-Type"); contentType != "application/json" {
		if response.Value.Content.Get(contentType) == nil {
			t.Errorf("%s %s answers with %s, which is not described", r.Method, r.URL.Path, contentType)
		}
		return
	}
	var v any
	if err := json.Unmarshal(rec.Body.Bytes(), &v); err != nil {
		t.Error(err)
		return
	}
	schema := response.Value.Content.Get("application/json").Schema.Value
	if err := schema.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("%s %s answers other than described: %v", r.Method, r.URL.Path, err)
	}
}

// find is the operation of a request: the path with the fewest placeholders that fits.
func (d *described) find(r *http.Request) *openapi3.Operation {
	got := strings.Split(strings.TrimLeft(r.URL.Path, "/"), "/")
	if got[0] != "model-configs" { // served without a version too
		got = got[1:]
	}
	var best *openapi3.Operation
	lowest := len(got) + 1
	for path, item := range d.doc.Paths.Map() {
		want := strings.Split(path[1:], "/")
		open := 0
		rest := want[len(want)-1] == "{model}" // takes slashes
		fits := (len(want) == len(got) || rest && len(want) < len(got)) && item.GetOperation(r.Method) != nil
		for i := 0; fits && i < len(want); i++ {
			if strings.HasPrefix(want[i], "{") {
				open++
			} else {
				fits = want[i] == got[i]
			}
		}
		if fits && open < lowest {
			best, lowest = item.GetOperation(r.Method), open
		}
	}
	return best
}

func plainAdmin() *control.Admin {
	return control.New(control.Parts{Clock: ident.System{}, Version: "1.0.0"})
}

// Every mounted route and every model route is described, and the reverse: of the paths that
// pass through to a provider without a type only that of compaction.
func TestRoutesAndDescriptionAgree(t *testing.T) {
	t.Parallel()
	a := plainAdmin()
	doc := newDescribed(t, a).doc
	if err := doc.Validate(context.Background()); err != nil {
		t.Errorf("the description is not valid OpenAPI: %v", err)
	}
	var documented []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	mounted := a.Routes()
	for _, p := range logs.TelemetryPaths() { // the program serves them itself
		mounted = append(mounted, "POST "+p.Path)
	}
	mounted = append(mounted, "GET /health", "POST /responses/compact")
	for _, r := range llm.Routes {
		mounted = append(mounted, r.Method+" "+r.Path)
	}
	slices.Sort(documented)
	slices.Sort(mounted)
	if diff := cmp.Diff(documented, mounted); diff != "" {
		t.Errorf("-described +mounted:\n%s", diff)
	}
	for _, route := range a.Routes() {
		method, path, _ := strings.Cut(route, " ")
		for _, version := range []string{"/v1", "/v2"} {
			if p := version + strings.NewReplacer("{", "", "}", "").Replace(path); !a.Matches(method, p) {
				t.Errorf("%s %s does not match", method, p)
			}
		}
	}
}

// Nobody needs a key to learn what the interface is.
func TestPages(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(plainAdmin().Handler())
	defer srv.Close()
	for path, want := range map[string]string{"/docs": "<!doctype html>", "/v1/openapi.json": `"openapi": "3.1.0"`, "/v2/openapi.json": `"openapi": "3.1.0"`} {
		res, err := http.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		if err != nil || res.StatusCode != 200 || !strings.Contains(string(b), want) {
			t.Errorf("%s: %d, %v: %.80s", path, res.StatusCode, err, b)
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	a := plainAdmin()
	for request, want := range map[string]bool{
		"GET /v1/configs":                true,
		"GET /v2/configs/pc-main":        true,
		"PUT /v1/api-keys/x/rotate":      false,
		"POST /v1/api-keys/x/rotate":     true,
		"PATCH /v1/configs/pc-main":      false,
		"GET /v1/configs/":               true,
		"GET /v1/configs//":              false,
		"GET /v1/configs/a%2Fb":          true,
		"GET /v1/configs%2Fa":            false,
		"GET /v1/configs/./a":            false,
		"GET /v1/Configs":                false,
		"GET /v1//configs":               false,
		"GET /v1/configs/../logs":        false,
		"GET /v3/configs":                false,
		"GET /configs":                   false,
		"GET /v1":                        false,
		"GET /docs":                      true,
		"POST /docs":                     false,
		"HEAD /docs/":                    true,
		"GET /v1/openapi.json":           true,
		"GET /v1/collections":            true,
		"GET /v1/prompts/partials/pp-a":  true,
		"GET /v1/prompts/pp-a/versions":  true,
		"POST /v1/prompts/pp-a/render":   true,
		"POST /v1/prompts/a/completions": false,
		"GET /v1/logs/exports/download":  true, // an id that is none
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := a.Matches(method, path); got != want {
			t.Errorf("%s: %v, want %v", request, got, want)
		}
	}
}
