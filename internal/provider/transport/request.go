package transport

import (
	"context"
	"crypto/tls"
	"strconv"
	"time"

	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/wire"
)

// Request is one call to an upstream.
type Request struct {
	Method string // "POST"
	Scheme string // "http" or "https"
	Host   string // "api.example.com" or with a port, as sent in the Host line
	Target string // escaped path and query, sent unchanged: "/v1/files/a%2Fb?limit=2"

	// Header contains the lines to send, with lower-case names. Hop-by-hop lines, "host",
	// "content-length" and "expect" are omitted: the values of host and content-length come from
	// Host and Body.
	Header wire.Header
	// Body is sent with its length, or in chunks when the length is unknown. When Body is a
	// stream, one last Read may still wait for its source after Do and the Response have ended.
	// Its data is discarded. A replayable body is not used any more after Do has failed or
	// Response.Body was closed.
	Body wire.Payload

	// HeadTimeout limits the time from the start of Do, including connecting and sending, to the
	// complete head of the response. 0 means no limit.
	HeadTimeout time.Duration
	// IdleTimeout limits each wait for bytes of the response body. 0 means no limit. Time in
	// which the caller does not read does not count.
	IdleTimeout time.Duration

	// Detach is called at most once, on the goroutine of Do, when the call is sent or about to
	// be sent and its response does not arrive immediately. From then on the returned context
	// ends the call, and ctx does not. With nil, ctx continues to apply.
	Detach func(ctx context.Context) context.Context
	// Late is called on the goroutine of Do when HeadTimeout passes for a completely sent call.
	// When it returns true, the call continues: Do returns the same error as without Late, and
	// the owner of the Pending must call Await. The Request is not used any more then. With nil
	// the call ends.
	Late func(p *Pending) bool

	// TLS replaces Options.TLSConfig, for example to send a client certificate. The pointer is
	// the identity: a connection made for one is never used for another. Use the same pointer
	// for as long as the identity is the same.
	TLS *tls.Config

	// ResponseBuffer is memory for the response. Nil allocates a new one. The memory is in use
	// until Response.Body is closed and Header is not read any more. Calls over HTTP/2 do not
	// use it.
	ResponseBuffer *ResponseBuffer
}

// check refuses a request that would break the framing. The host is checked once, when its
// entry is created.
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

// appendHead writes the request head for HTTP/1.1.
func (r *Request) appendHead(b []byte, h *host) []byte {
	b = append(b, r.Method...)
	b = append(b, ' ')
	b = append(b, h.absolute...) // empty unless a proxy forwards the call
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

// appendFraming writes the line that states where the body ends. Methods that usually have a
// body have this line even for an empty body. Source: RFC 9110 section 8.6.
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
