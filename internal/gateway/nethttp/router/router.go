// Package router decides what handles a request: the data plane, the administration, or one of the
// few pages that belong to neither. It rejects paths that look like routes of the administration
// but are not, so that no secret reaches a provider by mistake. Start reading at Router.owner.
package router

import (
	"net/http"
	"net/url"
	"strings"

	"sluice/internal/gateway"
	"sluice/internal/gateway/nethttp"
	"sluice/internal/http1/server"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Administration is the part of the administration that the router needs. Paths are escaped, as
// received.
type Administration interface {
	Matches(method, path string) bool // reports whether a route exists
	Allowed(path string) []string     // methods of the routes at a path: "GET", "PUT"
	Segments() []string               // first path segments after the version: "configs"
}

// Options are what a Router connects. Only Model, Admin and Routes are required.
type Options struct {
	Model   http.Handler // the data plane
	Admin   http.Handler // the administration
	Routes  Administration
	Pages   map[string]http.HandlerFunc // by path: "/health"
	Aliases []string                    // prefixes that count as x-gateway-
	CORS    bool                        // browsers get additional headers, which net/http adds
	// AdminKey reports whether the caller has an Admin key; nil means that no caller has one.
	AdminKey func(wire.Header) bool
	// Log wraps the handler of each request without a route, to log it; nil logs none.
	Log func(http.Handler) http.Handler
	// Note records why a request without a route is rejected; nil records nothing.
	Note func(*http.Request, *fault.Error)
}

// Router passes each request to the part of the program that handles it. It is safe for concurrent
// use.
//
// A registered administration route belongs to the administration, whatever headers the request
// has. Nothing that looks like such a route is sent to a provider, because its body may contain
// secrets. There are two exceptions, so that every path of a provider is reachable. With a header
// that names a provider or virtual key, /collections and everything below it goes to the provider
// (Source: spec; vector databases use it). With x-gateway-passthrough: true every path goes to
// the provider.
type Router struct {
	o        Options
	segments map[string]string // first segments of administration paths, by their nameOf, with hyphens and with underscores: "openapi" is "openapi.json", "api_keys" is "api-keys"
}

// New creates a router.
func New(o Options) *Router {
	r := &Router{o: o, segments: make(map[string]string)}
	for _, s := range o.Routes.Segments() {
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

// owner is the single rule that both HTTP servers use. The path is escaped, as received. selection
// reads the headers; it is called only if they matter.
func (r *Router) owner(method, path string, selection func() gateway.Selection) owner {
	if nethttp.Typed(method, path) {
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
	case r.o.Routes.Matches(method, path):
		return anAdmin
	case isVendorRoute(method, path), start.first == start.written && hasVendorModel(method, path):
		return aModel
	case r.isMeantForAdmin(start, path, sel.Provider):
		return mistaken
	case sel.Any() || nethttp.Models(method, path):
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
func (r *Router) isMeantForAdmin(start pathStart, path string, named bool) bool {
	if r.segments[start.first] != "" || r.segments[start.written] != "" || len(r.o.Routes.Allowed(path)) > 0 {
		return true
	}
	return !named && (r.nearest(start.first) != "" || start.written != start.first && r.nearest(start.written) != "")
}

// page returns the page at a path, which may end in a slash; nil if there is none.
func (r *Router) page(path string) http.HandlerFunc {
	if p := r.o.Pages[path]; p != nil || len(path) < 2 {
		return p
	}
	return r.o.Pages[strings.TrimSuffix(path, "/")]
}

// ServeHTTP routes a request. It uses the path as received: a ServeMux would clean it, and model
// ids contain %2F.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := req.URL.EscapedPath()
	by := r.owner(req.Method, path, func() gateway.Selection { return nethttp.Selected(req.Header, r.o.Aliases) })
	if by == aModel {
		server.MarkAuthenticated(req.Context()) // the gateway rejects callers by their headers
		r.o.Model.ServeHTTP(w, req)
		return
	}
	nethttp.WithTimeouts(r.fallbackHandler(by, path), server.UsualTimeouts()).ServeHTTP(w, req)
}

// fallbackHandler returns the handler of a request that is not model traffic.
func (r *Router) fallbackHandler(by owner, path string) http.Handler {
	switch by {
	case aPage:
		return r.page(path)
	case anAdmin:
		return r.o.Admin
	case mistaken, aModel, noOwner:
	}
	refuse := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		surface := fault.Model
		switch {
		case by == mistaken:
			r.refuse(w, req)
			return
		case r.o.AdminKey != nil && r.o.AdminKey(nethttp.Header(req)):
			surface = fault.Admin
		}
		r.reject(surface, w, req, nothingAt(req.Method, path))
	}))
	if r.o.Log != nil {
		refuse = r.o.Log(refuse)
	}
	return refuse
}

// IsModelRoute reports whether the HTTP/1.1 server may serve a request: it belongs to the data plane,
// and is not a browser's request to a gateway with CORS.
func (r *Router) IsModelRoute(method, path string, h wire.Header) bool {
	if r.o.CORS && h.Has("origin") {
		return false
	}
	if strings.IndexByte(path, '%') >= 0 {
		if _, err := url.PathUnescape(path); err != nil {
			return false
		}
	}
	return r.owner(method, path, func() gateway.Selection { return nethttp.Selection(h, r.o.Aliases) }) == aModel
}
