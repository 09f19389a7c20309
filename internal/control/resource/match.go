package resource

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/kernel/sealed"
)

// methods are the methods that an operation may have, in listing order.
var methods = [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Handler serves every operation below each of the versions, "/v1" and "/v2". A trailing slash
// in a path makes no difference.
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

// handler returns the handler of a request, nil if there is none.
func (rt *routeTable) handler(r *http.Request) http.Handler {
	for _, mux := range [...]*http.ServeMux{rt.fixed, rt.mux} {
		if _, pattern := mux.Handler(r); pattern != "" {
			return mux
		}
	}
	return nil
}

// Matches reports whether a method and path name an operation. The path is escaped, as it was
// received: "/v1/configs/a%2Fb". A path that a ServeMux would redirect, with empty or dot
// segments, does not match.
func (rt *routeTable) Matches(method, path string) bool {
	u := rt.urlBelow(path)
	return u != nil && rt.handler(&http.Request{Method: method, URL: u}) != nil
}

// Allowed lists the methods that operations have at an escaped path, for example GET, HEAD and
// DELETE. The list is empty if there is no operation.
func (rt *routeTable) Allowed(path string) (allowed []string) {
	u := rt.urlBelow(path)
	if u == nil {
		return nil
	}
	for _, m := range methods {
		if rt.handler(&http.Request{Method: m, URL: u}) != nil {
			allowed = append(allowed, m)
		}
	}
	return allowed
}

// Segments lists the first segments of the paths of operations, without the version, in order:
// "admin", "agent-integrations", … It includes operations that are served elsewhere.
func (rt *routeTable) Segments() []string { return slices.Sorted(maps.Keys(rt.segments)) }

// urlBelow returns the URL of an escaped path without its version, as a ServeMux expects it. It
// returns nil if no operation can have that path.
func (rt *routeTable) urlBelow(path string) *url.URL {
	rest, ok := withoutVersion(path)
	if !ok && slices.ContainsFunc(rt.bare, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
		rest, ok = path, true
	}
	if first := firstSegment(rest); !ok || !rt.segments[first] && strings.IndexByte(first, '%') < 0 {
		return nil // most model calls end here, without an allocation
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

// isClean reports whether a path has neither empty nor dot segments; a ServeMux would redirect a
// path that has them.
func isClean(path string) bool {
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// firstSegment returns the first segment of a path: "logs" for "/logs/{logId}".
func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// ShownPath returns a path for logs. It masks segments where a route has a secret and segments
// with the form of a secret. It also checks the routes of other methods, because a call with a
// wrong method may contain the secret too.
func (rt *routeTable) ShownPath(method, path string) string {
	rest, ok := withoutVersion(path)
	if !ok || !isClean(withoutSlash(rest)) { // a ServeMux would split it into other segments
		return sealed.Path(path)
	}
	secret, form := rt.secretAt(method, withoutSlash(rest))
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

// secretAt returns the name of the placeholder that holds a secret in the route at a path, and
// the path of that route. The name is "" if the route does not have one.
func (rt *routeTable) secretAt(method, path string) (secret, form string) {
	pattern := rt.pattern(method, path)
	if pattern == "" {
		for route := range rt.secret {
			other, _, _ := strings.Cut(route, " ")
			if found := rt.pattern(other, path); rt.secret[found] != "" {
				pattern = found
			}
		}
	}
	return rt.secret[pattern], pattern[strings.IndexByte(pattern, ' ')+1:]
}

// pattern returns the route at a method and an unescaped path, "" for none.
func (rt *routeTable) pattern(method, path string) string {
	r := &http.Request{Method: method, URL: &url.URL{Path: path}}
	_, pattern := rt.fixed.Handler(r)
	if pattern == "" {
		_, pattern = rt.mux.Handler(r)
	}
	return pattern
}
