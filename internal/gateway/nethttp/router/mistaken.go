package router

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"sluice/internal/gateway/nethttp"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// pathStart is the start of a path, with escapes decoded, in lower case and without versions. For
// "/v1/%43onfigs/../logs" first is "logs", with dot segments resolved as some providers resolve
// them, and written is "configs".
type pathStart struct{ first, written string }

// startOf reads the start of an escaped path. It allocates only for unusual paths.
func startOf(escaped string) pathStart {
	plain := unescaped(escaped)
	return pathStart{first: firstOf(path.Clean(plain)), written: firstOf(plain)}
}

// maxEscapes limits how often escapes are decoded: some servers decode them twice.
const maxEscapes = 3

// unescaped decodes the escapes of a path, nested ones included.
func unescaped(path string) string {
	for range maxEscapes {
		if strings.IndexByte(path, '%') < 0 {
			break
		}
		plain, err := url.PathUnescape(path)
		if err != nil {
			break
		}
		path = plain
	}
	return path
}

// vendorPrefix is the first path segment of OpenAI's clients for Azure and of Groq's clients.
// Below it, routes are the same as below /v1. Azure uses /openai/deployments itself.
const (
	vendorPrefix      = "openai"
	vendorDeployments = "deployments"
)

// apiPrefix is a first segment that some clients put before the version: "/api/v1/configs".
const apiPrefix = "api"

// isVersion reports whether a segment is an API version: "v3", "v1beta1".
func isVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && '0' <= segment[1] && segment[1] <= '9'
}

// firstOf returns the first segment after versions (some clients send two) and after /api and
// /openai, in lower case. It skips empty segments. A backslash ends a segment, as on some
// servers, and so does every byte that names do not contain: for "logs.json", "logs;a=b" and
// "logs&a=b" the segment is "logs".
func firstOf(p string) string {
	vendor := false
	for segment := range strings.SplitSeq(strings.ReplaceAll(p, `\`, "/"), "/") {
		segment = nameOf(strings.ToLower(strings.TrimSpace(segment)))
		switch {
		case segment == "", segment == apiPrefix, isVersion(segment):
		case segment == vendorPrefix && !vendor:
			vendor = true
		case segment == vendorDeployments && vendor:
			return vendorPrefix
		default:
			return segment
		}
	}
	if vendor {
		return vendorPrefix
	}
	return ""
}

// nameOf returns a segment up to the first byte that is not a letter, a digit, a hyphen or an
// underscore. A segment that begins with such a byte is returned unchanged.
func nameOf(segment string) string {
	for i := range len(segment) {
		switch c := segment[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
		case i == 0:
			return segment
		default:
			return segment[:i]
		}
	}
	return segment
}

// modelSegments are the first segments of the data plane's paths. They never count as mistyped
// segments of the administration.
var modelSegments = knownSegments()

func knownSegments() map[string]bool {
	known := make(map[string]bool)
	for _, route := range llm.Routes {
		known[firstOf(route.Path)] = true
	}
	for _, alias := range llm.Aliases {
		known[firstOf(alias.Prefix)] = true
	}
	return known
}

// nearest returns the first segment of the administration that is one edit away from a segment;
// "" if there is none, or if the segment belongs to the data plane.
func (r *Router) nearest(segment string) string {
	best := ""
	if modelSegments[segment] {
		return best
	}
	for s, written := range r.segments {
		if oneEdit(s, segment) && (best == "" || written < best) {
			best = written
		}
	}
	return best
}

// oneEdit reports whether two strings differ by one byte that was added, removed or replaced, or
// by two swapped neighbours.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || a == b {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// refuse rejects a request that looks like one for the administration: with 405 if the path has
// other methods, otherwise 404. The request never leaves the gateway.
func (r *Router) refuse(w http.ResponseWriter, req *http.Request) {
	escaped := req.URL.EscapedPath()
	if allowed := r.allowed(escaped); len(allowed) > 0 {
		list := strings.Join(allowed, ", ")
		w.Header().Set("Allow", list)
		f := fault.Newf(fault.UnknownRoute, "method %s is not allowed for %s; use one of %s", ClipPath(req.Method), ClipPath(escaped), list)
		f.Status = http.StatusMethodNotAllowed
		r.reject(fault.Admin, w, req, f)
		return
	}
	r.reject(fault.Admin, w, req, r.unknownRoute(escaped))
}

// allowed lists the methods of a path, including those of the data plane, because both use
// prompts.
func (r *Router) allowed(escaped string) []string {
	list := r.o.Routes.Allowed(escaped)
	for _, m := range [...]string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if nethttp.Typed(m, escaped) && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// unknownRoute returns an error that names the route that was probably meant, and how to reach a
// provider at such a path.
func (r *Router) unknownRoute(escaped string) *fault.Error {
	const hint = "; to call a provider at this path send x-gateway-passthrough: true"
	if len(r.o.Routes.Allowed("/v1"+escaped)) > 0 {
		return fault.Newf(fault.UnknownRoute, "unknown path %s, but /v1%[1]s exists; end the base URL of the client with /v1", ClipPath(escaped))
	}
	start := startOf(escaped)
	if near := r.nearest(start.first); near != "" && r.segments[start.first] == "" {
		return fault.Newf(fault.UnknownRoute, "unknown path %s; did you mean /v1/%s?"+hint, ClipPath(escaped), near)
	}
	return fault.Newf(fault.UnknownRoute, "unknown admin route %s; /v1/openapi.json lists all routes"+hint, ClipPath(escaped))
}

// nothingAt returns the error for a path without a route. Most of these calls come from clients
// whose base URL lacks its end.
func nothingAt(method, path string) *fault.Error {
	if nethttp.Typed(method, "/v1"+path) {
		return fault.Newf(fault.UnknownRoute, "unknown path %s, but /v1%[1]s exists; end the base URL of the client with /v1", ClipPath(path))
	}
	return fault.Newf(fault.UnknownRoute, "unknown path %s; model routes and admin routes begin with /v1", ClipPath(path))
}
