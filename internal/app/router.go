package app

import (
	"net/http"
	"net/url"
	"strings"

	"sluice/internal/dataplane"
	"sluice/internal/dataplane/front"
	"sluice/internal/dataplane/front/h1"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/wire"
)

// administration is what the router knows of the administration; *admin.Admin is one. Paths
// are escaped, as they came.
type administration interface {
	Matches(method, path string) bool
	Allowed(path string) []string
	Segments() []string
}

// router decides who answers: the data plane, the administration, or the few
// pages that belong to neither.
//
// A registered administration route is the administration's, whatever headers are sent, and
// nothing that looks like one is sent to a provider: its body may hold secrets. There are two
// exceptions, so that every path of a provider can be reached. With a header that names a
// provider or virtual key, /collections and everything below it goes to the provider (Source:
// spec; vector databases live there), and with x-gateway-passthrough: true every path does.
type router struct {
	model    http.Handler
	admin    http.Handler
	routes   administration
	segments map[string]string // that administration paths begin with, by their nameOf, with hyphens and with underscores: "openapi" is "openapi.json", "api_keys" is "api-keys"
	aliases  []string          // prefixes that count as x-gateway-
	pages    map[string]http.HandlerFunc
	cors     bool                            // browsers get headers of their own, which net/http adds
	logged   func(http.Handler) http.Handler // leaves a line in the log; nil for none
	adminKey func(wire.Header) bool          // reports whether the caller has an Admin key; nil for nobody
}

// newRouter makes the router of the running program.
func (a *App) newRouter() *router {
	r := newRouter(a.admin)
	r.logged = func(next http.Handler) http.Handler { return a.withAccessLine(next) }
	r.model, r.admin = front.New(a.gateway), r.logged(a.admin.Handler())
	r.adminKey = func(h wire.Header) bool {
		p, err := a.gateway.Identify(h)
		return err == nil && p.IsAdminKey()
	}
	r.aliases, r.pages, r.cors = a.set.Requests.HeaderPrefixAliases, a.pages(), a.set.CORS.Enabled
	return r
}

// newRouter makes a router that knows where the administration's paths begin.
func newRouter(routes administration) *router {
	r := &router{routes: routes, segments: make(map[string]string)}
	for _, s := range routes.Segments() {
		r.segments[nameOf(s)] = s
		if other := strings.ReplaceAll(nameOf(s), "-", "_"); r.segments[other] == "" {
			r.segments[other] = s
		}
	}
	return r
}

// owner is who answers a request.
type owner int

const (
	noOwner  owner = iota
	mistaken       // nobody, for it looks like a route of the administration and is none
	aPage
	aModel
	anAdmin
)

// owner is the one rule by which both fronts go. The path is escaped, as it came; selection
// reads the headers, and is called only where they matter.
func (r *router) owner(method, path string, selection func() dataplane.Selection) owner {
	if front.Typed(method, path) {
		return aModel
	}
	sel := selection()
	if sel.Passthrough {
		return aModel
	}
	if r.page(path) != nil {
		return aPage
	}
	start := startOf(path)
	switch {
	case sel.Provider && start.first == collections:
		return aModel
	case r.routes.Matches(method, path):
		return anAdmin
	case isVendorRoute(method, path), start.first == start.written && hasVendorModel(method, path):
		return aModel
	case r.isMeantForAdmin(start, path, sel.Provider):
		return mistaken
	case sel.Any() || front.Models(method, path):
		return aModel
	}
	return noOwner
}

// isVendorRoute reports whether a path is a model route where the clients of a vendor have it:
// "/openai/v1/models".
func isVendorRoute(method, path string) bool {
	start := llm.Locate(method, path)
	return start.Alias.Foreign() && start.Alias.RestPrefix == "" && llm.Lookup(method, start.Rest).Endpoint != llm.Proxy
}

// hasVendorModel reports whether a path is one of a vendor's that names a model:
// "/v1beta/models/gemini-2.5-flash:generateContent".
func hasVendorModel(method, path string) bool {
	start := llm.Locate(method, path)
	return start.Alias.Foreign() && start.Alias.Models != "" && strings.HasPrefix(path, start.Alias.Models)
}

// collections is the first segment that the administration shares with vector databases.
const collections = "collections"

// isMeantForAdmin reports whether a path at which the administration has nothing, or
// nothing for the method, was meant for it. A header that names a provider makes up for a
// first segment that is merely like one of the administration.
func (r *router) isMeantForAdmin(start pathStart, path string, named bool) bool {
	if r.segments[start.first] != "" || r.segments[start.written] != "" || len(r.routes.Allowed(path)) > 0 {
		return true
	}
	return !named && (r.nearest(start.first) != "" || start.written != start.first && r.nearest(start.written) != "")
}

// page is the page at a path, which may end in a slash; nil for none.
func (r *router) page(path string) http.HandlerFunc {
	if p := r.pages[path]; p != nil || len(path) < 2 {
		return p
	}
	return r.pages[strings.TrimSuffix(path, "/")]
}

// ServeHTTP sends a request on its way. The path is looked at as it came: a
// ServeMux would clean it, and model ids hold %2F.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := req.URL.EscapedPath()
	by := r.owner(req.Method, path, func() dataplane.Selection { return front.Selected(req.Header, r.aliases) })
	if by == aModel {
		h1.MarkAuthenticated(req.Context()) // the gateway refuses a caller by the head
		r.model.ServeHTTP(w, req)
		return
	}
	front.WithTimeouts(r.fallbackHandler(by, path), front.Usual()).ServeHTTP(w, req)
}

// fallbackHandler is the handler of a request that is not model traffic.
func (r *router) fallbackHandler(by owner, path string) http.Handler {
	switch by {
	case aPage:
		return r.page(path)
	case anAdmin:
		return r.admin
	case mistaken, aModel, noOwner:
	}
	refuse := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		surface := fault.Model
		switch {
		case by == mistaken:
			r.refuse(w, req)
			return
		case r.adminKey != nil && r.adminKey(front.Header(req)):
			surface = fault.Admin
		}
		refuseOn(surface, w, req, nothingAt(req.Method, path))
	}))
	if r.logged != nil {
		refuse = r.logged(refuse)
	}
	return refuse
}

// isModelRoute reports whether the fast front may serve a request: the data plane's, unless a
// browser sends it to a gateway that answers browsers.
func (r *router) isModelRoute(method, path string, h wire.Header) bool {
	if r.cors && h.Has("origin") {
		return false
	}
	if strings.IndexByte(path, '%') >= 0 {
		if _, err := url.PathUnescape(path); err != nil {
			return false
		}
	}
	return r.owner(method, path, func() dataplane.Selection { return front.Selection(h, r.aliases) }) == aModel
}
