package admin

import (
	"net/http"
	"strings"
)

// Matches reports whether a method and path name an operation or a page of the
// administration. The path is escaped, as it came; a slash at its end makes no difference.
func (a *Admin) Matches(method, path string) bool {
	if a.pageAt(path) != nil {
		return reads(method)
	}
	return a.engine.Matches(method, path)
}

// Allowed lists the methods that there are at an escaped path, for example GET, HEAD and
// DELETE; none where the administration has nothing.
func (a *Admin) Allowed(path string) []string {
	if a.pageAt(path) != nil {
		return []string{http.MethodGet, http.MethodHead}
	}
	return a.engine.Allowed(path)
}

// Segments lists the first segments that paths of the administration have after their
// version, in order: "admin", "api-keys", …
func (a *Admin) Segments() []string { return append(a.engine.Segments(), "openapi.json") }

// Routes lists what is mounted, as "GET /configs/{slug}", in order.
func (a *Admin) Routes() []string { return a.engine.Routes() }

// Handler serves what Matches.
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

// pageAt is the page at a path, which may end in a slash; nil for none.
func (a *Admin) pageAt(path string) http.HandlerFunc { return a.page(strings.TrimSuffix(path, "/")) }

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }
