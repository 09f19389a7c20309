package server

import (
	"bytes"
	"errors"
	"net"
	"strings"

	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/wire"
)

// maxLines is the maximum number of lines of a head. Clients send up to 30.
const maxLines = 200

// requestState is the request that a connection is serving.
type requestState struct {
	header   wire.Header // reused for its capacity
	req      wire.Request
	body     *body // of the current request, nil when it has none
	reusable bool  // the client may send another request
}

// readRequest waits for the next request and reads its head into c.req. A rejection is a
// *fault.Error; other errors come from the connection.
func (c *conn) readRequest() (step, error) {
	if c.input == nil {
		if err := c.await(); err != nil {
			return closeNow, err
		}
	}
	head, err := c.readHead()
	if err != nil {
		return closeNow, err
	}
	if !c.complete() {
		return closeNow, net.ErrClosed
	}
	next, err := c.parse(head)
	if err != nil || next != serveNext {
		return next, err
	}
	c.consume(len(head))
	return serveNext, nil
}

// readHead waits for a complete head and returns it, up to and including the empty line.
// The bytes remain in the input and are not consumed.
func (c *conn) readHead() ([]byte, error) {
	scanned, limit := 0, c.s.Rest.MaxHeaderBytes
	for {
		b := c.input.unread()
		from := max(0, scanned-len(syntax.HeadEnd)+1)
		if i := bytes.Index(b[from:], syntax.HeadEnd); i >= 0 {
			b = b[:from+i+len(syntax.HeadEnd)]
			if len(b) > limit {
				return nil, tooLarge()
			}
			return b, nil
		}
		switch err := syntax.CheckLineEnds(b, scanned); {
		case len(b) > limit:
			return nil, tooLarge()
		case !syntax.Token(b[0]):
			return nil, malformed("the first line does not begin with a method")
		case err != nil:
			return nil, malformed(err.Error())
		}
		if scanned == 0 {
			c.armFor(c.s.Rest.ReadHeaderTimeout)
		}
		scanned = len(b)
		if err := c.input.fill(c.nc, limit); err != nil {
			return nil, err
		}
	}
}

// parse parses a head. It converts the header names to lower case in place and leaves all other
// bytes unchanged, so that the request can still be handed over.
func (c *conn) parse(b []byte) (step, error) {
	eol := bytes.IndexByte(b, '\n')
	method, target, version, err := requestLine(b[:eol+1])
	switch {
	case err != nil:
		return closeNow, err
	case version == "HTTP/2.0" && string(b[:method]) == "PRI":
		if err := syntax.CheckLineEnds(b, 0); err != nil { // readHead rejects the same while it arrives
			return closeNow, malformed(err.Error())
		}
		return handOver, nil
	case version != "HTTP/1.1" && version != "HTTP/1.0":
		return closeNow, refusal(505, "the HTTP version is not supported")
	}
	lines := b[:len(b)-len("\r\n")]
	if err := c.input.lines.Parse(lines, eol+1, maxLines); err != nil {
		if errors.Is(err, syntax.ErrManyLines) {
			return closeNow, tooLarge()
		}
		return closeNow, malformed(err.Error())
	}
	text := string(lines)
	c.req = wire.Request{Method: text[:method], Remote: c.remote}
	c.header = c.input.lines.AppendTo(c.header[:0], text)
	if version == "HTTP/1.0" {
		return c.old()
	}
	f := framing{}
	if err := c.sort(&f); err != nil {
		return closeNow, err
	}
	req := &c.req
	req.Path, req.RawQuery, _ = strings.Cut(text[method+1:target], "?")
	if req.Method == "CONNECT" || req.Path == "" || req.Path[0] != '/' || f.upgrade {
		return handOver, nil
	}
	if !escaped(req.Path) {
		return closeNow, malformed("the path contains an invalid percent-encoding")
	}
	if !c.s.IsModelRoute(req.Method, req.Path, req.Header) {
		return handOver, nil
	}
	c.frame(&f)
	return serveNext, nil
}

// old checks a request of HTTP/1.0. The request is handed over if its framing is unambiguous.
// HTTP/1.0 does not define Transfer-Encoding: a server that supports it there and one that does
// not would see different requests after it. Source: RFC 9112 section 6.1.
func (rs *requestState) old() (step, error) {
	_, chunked, err := syntax.Framing(rs.header)
	switch {
	case chunked || errors.Is(err, syntax.ErrCoding):
		return closeNow, malformed("HTTP/1.0 does not support Transfer-Encoding")
	case err != nil:
		return closeNow, malformed(err.Error())
	}
	return handOver, nil
}

// requestLine finds the ends of the method and the target in "POST /v1/x HTTP/1.1\r\n",
// and the version. Source: RFC 9112 section 3.
func requestLine(line []byte) (method, target int, version string, err error) {
	end := len(line) - len("\r\n")
	if end < 0 || line[end] != '\r' {
		return 0, 0, "", malformed("a header line ends without a carriage return")
	}
	method = bytes.IndexByte(line, ' ')
	target = bytes.LastIndexByte(line, ' ')
	if method <= 0 || target <= method+1 {
		return 0, 0, "", malformed("the request line must contain a method, a target and a version")
	}
	for _, c := range line[:method] {
		if !syntax.Token(c) {
			return 0, 0, "", malformed("the method is not valid")
		}
	}
	for _, c := range line[method+1 : target] {
		if c <= ' ' || c == 0x7f {
			return 0, 0, "", malformed("the target contains blanks or control bytes")
		}
	}
	return method, target, known(line[target+1 : end]), nil
}

// known returns the version as a string. It does not allocate for the versions that exist.
func known(version []byte) string {
	for _, v := range [...]string{"HTTP/1.1", "HTTP/1.0", "HTTP/2.0"} {
		if string(version) == v {
			return v
		}
	}
	return "unknown"
}

// framing is the information in a head about the body and the connection.
type framing struct {
	length  int64 // of the body, -1 when the head does not state one
	chunked bool
	upgrade bool
	expects bool // the client sends the body only after 100 Continue
}

// sort reads the framing from the header and removes the lines that the gateway does not need.
func (rs *requestState) sort(f *framing) error {
	var err error
	if f.length, f.chunked, err = syntax.Framing(rs.header); err != nil {
		if errors.Is(err, syntax.ErrCoding) {
			return refusal(501, "the transfer coding is not supported; use chunked")
		}
		return malformed(err.Error())
	}
	rs.reusable = true
	hosts, remaining := 0, rs.header[:0]
	for _, line := range rs.header {
		switch line.Name {
		case "host":
			rs.req.Host = line.Value
			hosts++
			continue
		case "transfer-encoding":
			continue
		case "connection":
			rs.reusable = rs.reusable && !syntax.HasToken(line.Value, "close")
		case "upgrade":
			f.upgrade = true
		case "expect":
			if !syntax.HasToken(line.Value, "100-continue") {
				return refusal(417, "Expect must be 100-continue")
			}
			f.expects = true
		}
		remaining = append(remaining, line)
	}
	rs.header, rs.req.Header = remaining, remaining
	if hosts != 1 || !validHost(rs.req.Host) {
		return malformed("the Host header must be sent once, with a host")
	}
	return nil
}

// frame creates the reader of the body.
func (c *conn) frame(f *framing) {
	c.body = nil
	switch {
	case f.chunked:
		c.req.Length = -1
	case f.length > 0:
		c.req.Length = f.length
	default:
		return
	}
	c.body = &body{c: c, left: f.length, chunked: f.chunked, expects: f.expects}
	c.req.Body = c.body
}

// escaped reports whether each percent sign of a path begins a percent-encoded byte.
func escaped(path string) bool {
	for {
		i := strings.IndexByte(path, '%')
		if i < 0 {
			return true
		}
		if len(path) < i+3 || !isHex(path[i+1]) || !isHex(path[i+2]) {
			return false
		}
		path = path[i+3:]
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// validHost reports whether a Host value contains only bytes that hosts and ports can contain. An
// empty value is valid. Source: RFC 3986 section 3.2.2.
func validHost(h string) bool {
	for i := 0; i < len(h); i++ {
		c := h[i]
		isAlnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !isAlnum && strings.IndexByte(".:-_~[]%!$&'()*+,;=", c) < 0 {
			return false
		}
	}
	return true
}
