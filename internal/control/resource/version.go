package resource

import (
	"net/http"
	"strings"
)

// versions are the path prefixes of the administration; all have the same meaning.
// Source: contract/identity-and-governance.md section 16, point 2.
var versions = []string{"/v1", "/v2"}

// withoutVersion removes the version from a path: "/v2/configs" becomes "/configs".
func withoutVersion(path string) (rest string, ok bool) {
	for _, v := range versions {
		if rest, ok = strings.CutPrefix(path, v); ok && strings.HasPrefix(rest, "/") {
			return rest, true
		}
	}
	return "", false
}

// stripVersion returns the request without version and without a slash at the end of the path.
func stripVersion(r *http.Request) *http.Request {
	rest, raw := r.URL.Path, r.URL.RawPath // raw is "" if nothing is escaped
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

// withoutSlash removes one slash from the end of a path: "/configs/" becomes "/configs".
func withoutSlash(path string) string {
	if len(path) > 1 {
		return strings.TrimSuffix(path, "/")
	}
	return path
}
