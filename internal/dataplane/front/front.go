// Package front lets net/http fill the requests of the data plane and carry its
// answers. It is the only part of the request path that knows net/http; another
// front can stand beside it.
package front

import (
	"context"
	"io"
	"net"
	"net/http"
	"path"
	"strings"

	"sluice/internal/dataplane"
	"sluice/internal/llm"
	"sluice/internal/wire"
)

// gateway is what serves the requests; *dataplane.Gateway does.
type gateway interface {
	Serve(ctx context.Context, req *wire.Request, out wire.Responder) error
	Realtime(ctx context.Context, req *wire.Request, client dataplane.Client) error
}

// Handler serves model traffic over HTTP/1.1 and HTTP/2.
type Handler struct {
	gateway  gateway
	patience ClientTimeouts
}

// New makes the handler of a gateway.
func New(g gateway) *Handler { return &Handler{g, Usual()} }

// call holds what carries one request in and its answer out, in one allocation.
type call struct {
	out  responder
	body upload
}

// longBody is the size beyond which the answer may begin while a body still comes.
const longBody = 1 << 20

// ServeHTTP hands one request to the gateway. When the gateway says that an answer
// had to be cut, the connection is closed in mid-answer: that is how a client
// learns that what it has is not the whole.
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
		// A body that is relayed while the answer already begins must stay readable.
		// Not every ResponseWriter can do it; those that cannot need not be told.
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

// finish takes the rest of a body after the answer. With full duplex net/http would
// do so when it no longer expects the end of the body, and then fail the connection's
// next request.
func (c *call) finish() {
	if c.out.Flush() == nil {
		_, _ = io.CopyN(io.Discard, &c.body, Leftover) // the answer is given; the client may be gone
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

// header flattens net/http's map. Names it has not seen often are lower-cased anew.
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

// Typed reports whether a path belongs to a typed endpoint, which no
// administration route may shadow.
func Typed(method, path string) bool {
	rest, ok := strings.CutPrefix(path, "/v1")
	return ok && llm.Lookup(method, rest).Endpoint != llm.Proxy
}

// Models reports whether a path is model traffic where it is nobody else's: below /v1, or
// where the clients of a provider send their calls.
func Models(method, path string) bool {
	addr := llm.Locate(method, path)
	return addr.Alias != nil && addr.Rest != ""
}

// Header is a request's header as the data plane reads it.
func Header(r *http.Request) wire.Header { return header(r.Header) }

// Selected is what the headers of a request select.
func Selected(h http.Header, aliases []string) (s dataplane.Selection) {
	for name, values := range h {
		for _, v := range values {
			s.Note(lower(name), v, aliases)
		}
	}
	return s
}

// Selection is Selected for a header as the data plane reads it.
func Selection(h wire.Header, aliases []string) (s dataplane.Selection) {
	for i := range h {
		s.Note(h[i].Name, h[i].Value, aliases)
	}
	return s
}
