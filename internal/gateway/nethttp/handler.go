// Package nethttp connects net/http to the data plane: it converts HTTP requests to requests of the
// data plane and writes their responses. The data plane does not depend on it; another server can
// be used in addition. Start reading at Handler.ServeHTTP.
package nethttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"path"
	"strings"

	"sluice/internal/gateway"
	"sluice/internal/gateway/realtime"
	"sluice/internal/http1/server"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// requestServer serves the requests; *gateway.Gateway implements it.
type requestServer interface {
	Serve(ctx context.Context, req *wire.Request, out wire.Responder) error
	Realtime(ctx context.Context, req *wire.Request, client realtime.Client) error
}

// Handler serves model traffic over HTTP/1.1 and HTTP/2.
type Handler struct {
	gateway  requestServer
	patience server.ClientTimeouts
}

// New returns the handler of a gateway.
func New(g requestServer) *Handler { return &Handler{g, server.UsualTimeouts()} }

// call contains the response writer and the body reader of one request, in one allocation.
type call struct {
	out  responder
	body upload
}

// longBody is the size in bytes above which a response may start while the request body is still
// being received.
const longBody = 1 << 20

// ServeHTTP passes one request to the gateway. If the gateway reports that the response could not
// be completed, the connection is closed in the middle of the response: this shows the client
// that the response is incomplete.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{out: responder{w: w, bare: r.Method == http.MethodHead, patience: h.patience, timed: timed(r)}}
	req := request(r)
	if req.Body != nil {
		c.body = upload{body: req.Body, conn: deadlines(w), patience: h.patience, timed: timed(r)}
		req.Body = &c.body
	}
	if isUpgrade(r) && path.Base(r.URL.Path) == "realtime" {
		h.realtime(w, r, req)
		return
	}
	long := req.Length < 0 || req.Length > longBody
	if long {
		// The body must stay readable after the response has started, because it may still be
		// relayed. Not every ResponseWriter supports this; the error is ignored for those that do
		// not.
		_ = http.NewResponseController(w).EnableFullDuplex()
	}
	if err := h.gateway.Serve(r.Context(), req, &c.out); err != nil {
		panic(http.ErrAbortHandler)
	}
	if long && req.Body != nil {
		c.finish()
	}
	c.out.release()
}

// finish reads the rest of a body after the response. With full duplex net/http would read it too
// late, when it no longer expects the end of the body, and then fail the next request of the
// connection.
func (c *call) finish() {
	if c.out.Flush() == nil {
		_, _ = io.CopyN(io.Discard, &c.body, server.MaxLeftover) // the response is complete; the client may have disconnected
	}
}

func request(r *http.Request) *wire.Request {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") { // absolute form
		path, query = r.URL.EscapedPath(), r.URL.RawQuery
	}
	req := &wire.Request{
		Method: r.Method, Path: path, RawQuery: query, Header: header(r.Header), Length: r.ContentLength, Host: r.Host,
	}
	if r.Body != nil && r.Body != http.NoBody {
		req.Body = r.Body
	}
	req.Remote, _, _ = net.SplitHostPort(r.RemoteAddr)
	return req
}

// header converts net/http's map to a list with lower-case names.
func header(m http.Header) wire.Header {
	h := make(wire.Header, 0, len(m)+2)
	for name, values := range m {
		name = lower(name)
		for _, v := range values {
			h = append(h, wire.Field{Name: name, Value: v})
		}
	}
	return h
}

func lower(name string) string {
	if l, ok := lowered[name]; ok {
		return l
	}
	return strings.ToLower(name)
}

func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// Typed reports whether a path belongs to a typed endpoint. Administration routes must not shadow
// such a path.
func Typed(method, path string) bool {
	rest, ok := strings.CutPrefix(path, "/v1")
	return ok && llm.Lookup(method, rest).Endpoint != llm.Proxy
}

// Models reports whether a path without another route is model traffic: it is below /v1 or below
// a prefix that the clients of a provider use.
func Models(method, path string) bool {
	addr := llm.Locate(method, path)
	return addr.Alias != nil && addr.Rest != ""
}

// Header returns the header of a request in the form that the data plane reads.
func Header(r *http.Request) wire.Header { return header(r.Header) }

// Selected returns the selection that the headers of a request make.
func Selected(h http.Header, aliases []string) (s gateway.Selection) {
	for name, values := range h {
		for _, v := range values {
			s.Note(lower(name), v, aliases)
		}
	}
	return s
}

// Selection is Selected for a header in the form that the data plane reads.
func Selection(h wire.Header, aliases []string) (s gateway.Selection) {
	for i := range h {
		s.Note(h[i].Name, h[i].Value, aliases)
	}
	return s
}
