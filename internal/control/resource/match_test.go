package resource_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
)

// A slash at the end of a path makes no difference; an escaped one is part of a name, and
// other spellings are other paths.
func TestPathsOfOperations(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, pages(), widgets(nil))
	for request, want := range map[string]bool{
		"GET /v1/shelves":           true,
		"GET /v1/shelves/":          true,
		"HEAD /v2/shelves/":         true,
		"GET /v1/sh%65lves":         true,
		"GET /v1/shelves/a%2Fb":     true,
		"GET /v1/shelves/a%2Fb/":    true,
		"GET /v1/shelves/%2e%2e":    true, // a name like any other
		"GET /pages/a/b/":           true,
		"GET /v1/shelves//":         false,
		"GET /v1//shelves":          false,
		"GET /v1/shelves/../x":      false,
		"GET /v1/./shelves":         false,
		"GET /v1/shelves%2F":        false,
		"GET /v1/shelves%2Fa":       false,
		"GET /v1/Shelves":           false,
		"PATCH /v1/shelves/a":       false,
		"GET /v1/shelves/a/b":       false,
		"GET /v1/shelves/%zz":       false,
		"GET /":                     false,
		"GET ":                      false,
		"GET /v1":                   false,
		"GET /v1/":                  false,
		"GET /shelves":              false,
		"GET /v1/shelves/.hidden":   true,
		"POST /v1/shelves/a%2Fb/..": false,
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := r.engine.Matches(method, path); got != want {
			t.Errorf("%s: %v, want %v", request, got, want)
		}
	}
	for path, want := range map[string][]string{
		"/v1/shelves/a/": {"GET", "HEAD", "PUT", "DELETE"},
		"/v1/shelves":    {"GET", "HEAD", "POST"},
		"/pages/a/b":     {"GET", "HEAD"},
		"/v1/nothing":    nil,
	} {
		if got := r.engine.Allowed(path); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if got := r.engine.Segments(); !slices.Equal(got, []string{"pages", "shelves"}) {
		t.Errorf("%v", got)
	}
	for _, path := range []string{"/v1/pages/a/b/", "/v1/pages/a%2Fx/b%2Fc/", "/pages/a/b/"} {
		rec := httptest.NewRecorder()
		r.engine.Handler().ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		if rec.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}

// A secret in a path is masked in logs although the call is a slip: another method, or a
// slash at the end.
func TestSecretsInPathsOfSlipsAreMasked(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, resource.Operations{{
		Method: "POST", Path: "/invites/{token}/accept", ID: "accept", Public: true, Params: []resource.Param{{Name: "token", Secret: true}},
		Identify: func(*http.Request) (*access.Principal, error) { return nil, nil },
		Run:      func(context.Context, *resource.Call) (any, error) { return resource.Empty{}, nil },
	}})
	for _, method := range []string{"POST", "GET", "PATCH"} {
		for _, path := range []string{"/v1/invites/THE-TOKEN/accept", "/v2/invites/THE-TOKEN/accept/"} {
			want := strings.Replace(path, "THE-TOKEN", "***", 1)
			if got := r.engine.ShownPath(method, path); got != want {
				t.Errorf("%s %s: %s", method, path, got)
			}
		}
	}
	for _, path := range []string{"/v1/invites//inv_0123456789abcdefghijklmnopqrstuvwxyz/accept", "/v1//invites/inv_0123456789abcdefghijklmnopqrstuvwxyz/accept", "/v1/x/../invites/inv_0123456789abcdefghijklmnopqrstuvwxyz/accept/"} {
		if got := r.engine.ShownPath("GET", path); strings.Contains(got, "0123456789") {
			t.Errorf("%s", got)
		}
	}
	if got := r.engine.ShownPath("GET", "/v1/invites/a/b"); got != "/v1/invites/a/b" {
		t.Errorf("%s", got)
	}
}
