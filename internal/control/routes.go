package control

import (
	"net/http"
	"strings"
)

// Matches reports whether a method and path name an operation or a page of the administration.
// The path is escaped, as it was received; a trailing slash makes no difference.
func (a *Admin) Matches(method, path string) bool {
	if a.pageAt(path) != nil {
		return reads(method)
	}
	return a.engine.Matches(method, path)
}

// Allowed lists the methods at an escaped path, for example GET, HEAD and DELETE. The list is
// empty if the administration does not have the path.
func (a *Admin) Allowed(path string) []string {
	if a.pageAt(path) != nil {
		return []string{http.MethodGet, http.MethodHead}
	}
	return a.engine.Allowed(path)
}

// Segments lists the first segments of the administration's paths after the version, in order:
// "admin", "api-keys", …
func (a *Admin) Segments() []string { return append(a.engine.Segments(), "openapi.json") }

// Routes lists the mounted routes in order, for example "GET /configs/{slug}".
func (a *Admin) Routes() []string { return a.engine.Routes() }

// Handler serves the requests that Matches accepts.
func (a *Admin) Handler() http.Handler {
	routes := a.engine.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page := a.pageAt(r.URL.Path); page != nil && reads(r.Method) {
			page(w, r)
			return
		}
		routes.ServeHTTP(w, r)
	})
}

// pageAt returns the page at a path, which may end in a slash; nil for none.
func (a *Admin) pageAt(path string) http.HandlerFunc { return a.page(strings.TrimSuffix(path, "/")) }

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }
