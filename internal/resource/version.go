package resource

import (
	"net/http"
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

// stripVersion is the request as it looks below its version, without a slash at the end.
func stripVersion(r *http.Request) *http.Request {
	rest, raw := r.URL.Path, r.URL.RawPath // the second is "" when nothing is escaped
	if plain, ok := withoutVersion(rest); ok {
		rest = plain
		raw, _ = withoutVersion(raw)
	}
	if raw == "" || strings.HasSuffix(raw, "/") { // an escaped slash is part of a name
		rest, raw = withoutSlash(rest), withoutSlash(raw)
	}
	if rest == r.URL.Path {
		return r
	}
	stripped := r.Clone(r.Context())
	stripped.URL.Path, stripped.URL.RawPath = rest, raw
	return stripped
}

// withoutSlash takes one slash off the end of a path: "/configs/" is "/configs".
func withoutSlash(path string) string {
	if len(path) > 1 {
		return strings.TrimSuffix(path, "/")
	}
	return path
}
