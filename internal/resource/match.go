package resource

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/sealed"
)

// methods are those that an operation may have, in the order in which they are listed.
var methods = [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Handler serves every operation below each of the versions, "/v1" and "/v2". A slash at the
// end of a path makes no difference.
func (e *Engine) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stripped := stripVersion(r)
		if h := e.handler(stripped); h != nil {
			h.ServeHTTP(w, stripped)
			return
		}
		e.mux.ServeHTTP(w, stripped)
	})
}

// handler is who serves a request, nil when nobody does.
func (e *Engine) handler(r *http.Request) http.Handler {
	for _, mux := range [...]*http.ServeMux{e.fixed, e.mux} {
		if _, pattern := mux.Handler(r); pattern != "" {
			return mux
		}
	}
	return nil
}

// Matches reports whether a method and path name an operation. The path is escaped, as it
// came: "/v1/configs/a%2Fb". A path that a ServeMux would redirect, with empty or dot
// segments, names none.
func (e *Engine) Matches(method, path string) bool {
	u := e.urlBelow(path)
	return u != nil && e.handler(&http.Request{Method: method, URL: u}) != nil
}

// Allowed lists the methods that operations have at an escaped path, for example GET, HEAD
// and DELETE; none where there is no operation.
func (e *Engine) Allowed(path string) (allowed []string) {
	u := e.urlBelow(path)
	if u == nil {
		return nil
	}
	for _, m := range methods {
		if e.handler(&http.Request{Method: m, URL: u}) != nil {
			allowed = append(allowed, m)
		}
	}
	return allowed
}

// Segments lists the first segments of the paths of operations, without the version, in
// order: "admin", "agent-integrations", … Those of operations that are served elsewhere are
// among them.
func (e *Engine) Segments() []string { return slices.Sorted(maps.Keys(e.segments)) }

// urlBelow is an escaped path below its version, as a ServeMux takes it; nil for one at which
// no operation can be.
func (e *Engine) urlBelow(path string) *url.URL {
	rest, ok := withoutVersion(path)
	if !ok && slices.ContainsFunc(e.bare, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
		rest, ok = path, true
	}
	if first := firstSegment(rest); !ok || !e.segments[first] && strings.IndexByte(first, '%') < 0 {
		return nil // as for most calls of models, without an allocation
	}
	if rest = withoutSlash(rest); !isClean(rest) {
		return nil
	}
	plain, err := url.PathUnescape(rest)
	if err != nil {
		return nil
	}
	return &url.URL{Path: plain, RawPath: rest}
}

// isClean reports whether a path has no empty and no dot segment: a ServeMux would redirect
// such a path.
func isClean(path string) bool {
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// firstSegment is the first segment of a path: "logs" of "/logs/{logId}".
func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// ShownPath is a path as logs may show it: what stands where a route has a secret is masked,
// and what has the form of one. A route that has a secret is known under the other methods
// too: a call with a wrong one may carry it all the same.
func (e *Engine) ShownPath(method, path string) string {
	rest, ok := withoutVersion(path)
	if !ok || !isClean(withoutSlash(rest)) { // a ServeMux would count other segments
		return sealed.Path(path)
	}
	secret, form := e.secretAt(method, withoutSlash(rest))
	if secret == "" {
		return sealed.Path(path)
	}
	parts := strings.Split(rest, "/")
	for i, segment := range strings.Split(form, "/") {
		if i < len(parts) && segment == "{"+secret+"}" {
			parts[i] = sealed.Mask
		}
	}
	return sealed.Path(strings.TrimSuffix(path, rest) + strings.Join(parts, "/"))
}

// secretAt is the name of the placeholder that holds a secret in the route at a path, and the
// path of that route; "" where there is none.
func (e *Engine) secretAt(method, path string) (secret, form string) {
	pattern := e.pattern(method, path)
	if pattern == "" {
		for route := range e.secret {
			other, _, _ := strings.Cut(route, " ")
			if found := e.pattern(other, path); e.secret[found] != "" {
				pattern = found
			}
		}
	}
	return e.secret[pattern], pattern[strings.IndexByte(pattern, ' ')+1:]
}

// pattern is the route at a method and a plain path, "" for none.
func (e *Engine) pattern(method, path string) string {
	r := &http.Request{Method: method, URL: &url.URL{Path: path}}
	_, pattern := e.fixed.Handler(r)
	if pattern == "" {
		_, pattern = e.mux.Handler(r)
	}
	return pattern
}
