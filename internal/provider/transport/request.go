package transport

import (
	"context"
	"crypto/tls"
	"strconv"
	"time"

	"sluice/internal/wire"
	"sluice/internal/wire/syntax"
)

// Request is one call of an upstream.
type Request struct {
	Method string // "POST"
	Scheme string // "http" or "https"
	Host   string // "api.example.com" or with a port, as it goes into the Host line
	Target string // escaped path and query, sent as it is: "/v1/files/a%2Fb?limit=2"

	// Header holds the lines to send, names in lower case. Lines that belong to a
	// connection, "host", "content-length" and "expect" are left out: the first
	// two come from Host and Body.
	Header wire.Header
	// Body is sent with its length, or in chunks when that is not known. When it
	// is a stream, Do and the Response may leave one last Read of it behind that is
	// still waiting for its source; what it reads is thrown away. Of a replayable
	// body nothing is touched after Do has failed or Response.Body was closed.
	Body wire.Payload

	// HeadTimeout bounds the time from the start of Do, connecting and sending
	// included, to the complete head of the answer; 0 means no bound.
	HeadTimeout time.Duration
	// IdleTimeout bounds each wait for bytes of the answer's body; 0 means no
	// bound. Time in which the caller does not read does not count.
	IdleTimeout time.Duration

	// Detach is called at most once, on the goroutine of Do, when the call is sent or about to
	// be and its answer does not come at once: from then on ctx does not end the call, and the
	// context that Detach returns does. Nil leaves it to ctx.
	Detach func(ctx context.Context) context.Context
	// Late is called on the goroutine of Do when HeadTimeout is over for a call that was sent
	// whole. When it returns true the call goes on: Do fails as it would without, and Late's
	// owner has to call Await. Nothing of the Request is used then. Nil gives the call up.
	Late func(p *Pending) bool

	// TLS replaces Options.TLSConfig, for example to show a client certificate.
	// The pointer is the identity: connections made for one are never used for
	// another, so keep it for as long as the identity is the same.
	TLS *tls.Config

	// ResponseBuffer is where the answer may be made; nil for a new one. Until Response.Body was
	// closed and Header is not read any more the room is in use. Of calls over HTTP/2
	// nothing is kept in it.
	ResponseBuffer *ResponseBuffer
}

// check refuses what would break the framing of the request. The host is checked
// once, when its entry is made.
func (r *Request) check() error {
	if !wire.ValidName(r.Method) {
		return invalidRequest("the method is not valid")
	}
	if r.Target == "" || r.Target[0] != '/' && r.Target != "*" {
		return invalidRequest("the path must begin with a slash")
	}
	for i := 0; i < len(r.Target); i++ {
		if c := r.Target[i]; c <= ' ' || c == 0x7f {
			return invalidRequest("the path contains blanks or control bytes")
		}
	}
	for i := range r.Header {
		if !syntax.TokenName(r.Header[i].Name) {
			return invalidRequest("a header name is not valid")
		}
		if !wire.ValidValue(r.Header[i].Value) {
			return invalidRequest("a header value contains control bytes").WithParam(r.Header[i].Name)
		}
	}
	return nil
}

// appendHead writes the request's head for HTTP/1.1.
func (r *Request) appendHead(b []byte, h *host) []byte {
	b = append(b, r.Method...)
	b = append(b, ' ')
	b = append(b, h.absolute...) // empty unless a proxy is to forward the call
	b = append(b, r.Target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, r.Host...)
	b = append(b, "\r\n"...)
	b = append(b, h.proxyAuth...)
	nominated := r.Header.Get("connection")
	for i := range r.Header {
		f := &r.Header[i]
		if !relayed(f.Name) || nominated != "" && syntax.HasToken(nominated, f.Name) {
			continue
		}
		b = append(b, f.Name...)
		b = append(b, ": "...)
		b = append(b, f.Value...)
		b = append(b, "\r\n"...)
	}
	return append(r.appendFraming(b), "\r\n"...)
}

// appendFraming writes the line that says where the body ends. Methods that
// usually have a body say so even when it is empty. Source: RFC 9110 section 8.6.
func (r *Request) appendFraming(b []byte) []byte {
	n := r.Body.Len()
	switch {
	case n < 0:
		return append(b, "transfer-encoding: chunked\r\n"...)
	case n > 0, r.Method == "POST", r.Method == "PUT", r.Method == "PATCH":
		b = append(b, "content-length: "...)
		b = strconv.AppendInt(b, n, 10)
		return append(b, "\r\n"...)
	}
	return b
}

// relayed reports whether a line of Header is sent.
func relayed(name string) bool {
	switch name {
	case "host", "content-length", "expect":
		return false
	}
	return !wire.HopByHop(name)
}
