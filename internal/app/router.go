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

// administration is the part of the administration that the router needs; *admin.Admin implements
// it. Paths are escaped, as received.
type administration interface {
	Matches(method, path string) bool
	Allowed(path string) []string
	Segments() []string
}

// router decides what handles a request: the data plane, the administration, or one of the few
// pages that belong to neither.
//
// A registered administration route belongs to the administration, whatever headers the request
// has. Nothing that looks like such a route is sent to a provider, because its body may contain
// secrets. There are two exceptions, so that every path of a provider is reachable. With a header
// that names a provider or virtual key, /collections and everything below it goes to the provider
// (Source: spec; vector databases use it). With x-gateway-passthrough: true every path goes to
// the provider.
type router struct {
	model    http.Handler
	admin    http.Handler
	routes   administration
	segments map[string]string // first segments of administration paths, by their nameOf, with hyphens and with underscores: "openapi" is "openapi.json", "api_keys" is "api-keys"
	aliases  []string          // prefixes that count as x-gateway-
	pages    map[string]http.HandlerFunc
	cors     bool                            // browsers get additional headers, which net/http adds
	logged   func(http.Handler) http.Handler // logs each request; nil logs none
	adminKey func(wire.Header) bool          // reports whether the caller has an Admin key; nil means that no caller has one
}

// newRouter creates the router of the running program.
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

// newRouter creates a router with the first segments of the administration's paths.
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

// owner is the part of the program that handles a request.
type owner int

const (
	noOwner  owner = iota
	mistaken       // rejected: the path looks like a route of the administration but is not one
	aPage
	aModel
	anAdmin
)

// owner is the single rule that both fronts use. The path is escaped, as received. selection
// reads the headers; it is called only if they matter.
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

// isVendorRoute reports whether a path is a model route with the prefix of a vendor's clients:
// "/openai/v1/models".
func isVendorRoute(method, path string) bool {
	start := llm.Locate(method, path)
	return start.Alias.Foreign() && start.Alias.RestPrefix == "" && llm.Lookup(method, start.Rest).Endpoint != llm.Proxy
}

// hasVendorModel reports whether a path is a vendor's path that names a model:
// "/v1beta/models/gemini-2.5-flash:generateContent".
func hasVendorModel(method, path string) bool {
	start := llm.Locate(method, path)
	return start.Alias.Foreign() && start.Alias.Models != "" && strings.HasPrefix(path, start.Alias.Models)
}

// collections is the first segment that the administration shares with vector databases.
const collections = "collections"

// isMeantForAdmin reports whether a path for which the administration has no route, or no method,
// was meant for the administration. If a header names a provider, a first segment that only
// resembles one of the administration does not count.
func (r *router) isMeantForAdmin(start pathStart, path string, named bool) bool {
	if r.segments[start.first] != "" || r.segments[start.written] != "" || len(r.routes.Allowed(path)) > 0 {
		return true
	}
	return !named && (r.nearest(start.first) != "" || start.written != start.first && r.nearest(start.written) != "")
}

// page returns the page at a path, which may end in a slash; nil if there is none.
func (r *router) page(path string) http.HandlerFunc {
	if p := r.pages[path]; p != nil || len(path) < 2 {
		return p
	}
	return r.pages[strings.TrimSuffix(path, "/")]
}

// ServeHTTP routes a request. It uses the path as received: a ServeMux would clean it, and model
// ids contain %2F.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := req.URL.EscapedPath()
	by := r.owner(req.Method, path, func() dataplane.Selection { return front.Selected(req.Header, r.aliases) })
	if by == aModel {
		h1.MarkAuthenticated(req.Context()) // the gateway rejects callers by their headers
		r.model.ServeHTTP(w, req)
		return
	}
	front.WithTimeouts(r.fallbackHandler(by, path), h1.UsualTimeouts()).ServeHTTP(w, req)
}

// fallbackHandler returns the handler of a request that is not model traffic.
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

// isModelRoute reports whether the fast front may serve a request: it belongs to the data plane,
// and is not a browser's request to a gateway with CORS.
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
