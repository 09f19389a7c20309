package resource_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

type plainRefusal struct {
	Error string `json:"error"`
}

// pages is a public operation on names with slashes, whose refusals have a form of their
// own.
func pages() resource.Operations {
	return resource.Operations{{
		Method: "GET", Path: "/pages/{book}/{page...}", ID: "getPage", Public: true, Unversioned: true, Response: plainRefusal{}, Refusal: plainRefusal{},
		Params: []resource.Param{{Name: "book"}, {Name: "page"}},
		Refuse: func(f *fault.Error) any { return plainRefusal{f.Text()} },
		Run: func(_ context.Context, c *resource.Call) (any, error) {
			if c.Path("book") == "none" {
				return nil, fault.New(fault.NotFound, "no such book")
			}
			return plainRefusal{c.Path("book") + ": " + c.Path("page")}, nil
		},
	}}
}

func TestPathsWithoutVersion(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, pages(), widgets(nil))
	for path, want := range map[string]string{
		"/v1/pages/a/b/c:1@2":  `{"error":"a: b/c:1@2"}`,
		"/pages/a/b%2Fc":       `{"error":"a: b/c"}`,
		"/v2/pages/none/b":     `{"error":"no such book"}`,
		"/pages/none/anything": `{"error":"no such book"}`,
	} {
		req := httptest.NewRequest("GET", path, nil)
		if !r.engine.Matches("GET", req.URL.EscapedPath()) {
			t.Errorf("%s is not ours", path)
		}
		rec := httptest.NewRecorder()
		r.engine.Handler().ServeHTTP(rec, req)
		if got := strings.TrimSpace(rec.Body.String()); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"/shelves", "/pages", "/other/a/b", "/pages//a"} {
		if r.engine.Matches("GET", path) {
			t.Errorf("%s is ours without a version", path)
		}
	}
}
