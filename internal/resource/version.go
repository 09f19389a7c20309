package resource

import (
	"net/http"
	"net/url"
	"strings"
)

// versions are the prefixes that mean the same to the administration.
// Source: contract/identity-and-governance.md section 16, point 2.
var versions = []string{"/v1", "/v2"}

// withoutVersion takes the version off a path: "/v2/configs" is "/configs".
func withoutVersion(path string) (rest string, ok bool) {
	for _, v := range versions {
		if rest, ok = strings.CutPrefix(path, v); ok && strings.HasPrefix(rest, "/") {
			return rest, true
		}
	}
	return "", false
}

// below is the request as it looks below its version.
func below(r *http.Request) *http.Request {
	rest, ok := withoutVersion(r.URL.Path)
	if !ok {
		return r
	}
	raw, _ := withoutVersion(r.URL.RawPath) // "" when nothing is escaped
	in := r.Clone(r.Context())
	in.URL.Path, in.URL.RawPath = rest, raw
	return in
}

func urlOf(path string) *url.URL { return &url.URL{Path: path} }
