package transport

import (
	"bytes"

	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/wire"
)

const (
	httpVersion = "HTTP/1."
	maxFields   = 256
	usualFields = 16 // providers send 10 to 30
)

// head is the parsed head of a response.
type head struct {
	status  int
	minor   byte // '0' or '1'
	header  wire.Header
	length  int64 // announced length, -1 when none
	chunked bool
	closes  bool // the peer will close the connection
}

// parseHead parses a complete head, up to and including the empty line. It is as strict as the
// package comment states.
func (buf *buffer) parseHead(b []byte, into wire.Header) (head, error) {
	h := head{length: -1}
	eol := bytes.IndexByte(b, '\n')
	if err := h.parseStatus(b[:eol+1]); err != nil {
		return h, err
	}
	lines := b[eol+1 : len(b)-2]
	if err := buf.lines.Parse(lines, 0, maxFields); err != nil {
		return h, invalid(err)
	}
	if cap(into) < buf.lines.Len() {
		into = make(wire.Header, 0, max(buf.lines.Len(), usualFields))
	}
	h.header = buf.lines.AppendTo(into[:0], string(lines))
	return h, h.framing()
}

// parseStatus parses "HTTP/1.1 200 OK\r\n". The reason may be missing.
// Source: RFC 9112 section 4.
func (h *head) parseStatus(line []byte) error {
	const code = len("HTTP/1.1 ")
	n := len(line) - len("\r\n")
	if n < code+3 || string(line[:len(httpVersion)]) != httpVersion || line[code-1] != ' ' || line[n] != '\r' {
		return garbage("the status line is not valid")
	}
	h.minor = line[len(httpVersion)]
	if h.minor != '0' && h.minor != '1' {
		return garbage("the HTTP version is not supported")
	}
	for _, c := range line[code : code+3] {
		if c < '0' || c > '9' {
			return garbage("the status is not a number")
		}
		h.status = h.status*10 + int(c-'0')
	}
	reason := line[code+3 : n]
	if h.status < 100 || len(reason) > 0 && reason[0] != ' ' || !syntax.CleanValue(reason) {
		return garbage("the status line is not valid")
	}
	return nil
}

// framing determines where the body ends, and whether the connection closes.
func (h *head) framing() (err error) {
	if h.length, h.chunked, err = syntax.Framing(h.header); err != nil {
		return invalid(err)
	}
	if h.chunked && h.minor == '0' {
		return invalid(syntax.ErrCoding)
	}
	h.closes = h.minor == '0'
	for i := range h.header {
		if f := &h.header[i]; f.Name == "connection" {
			h.closes = h.closes || syntax.HasToken(f.Value, "close")
		}
	}
	return nil
}

// bodyless reports whether a response has no body, whatever its head states.
// Source: RFC 9110 section 6.4.1.
func bodyless(method string, status int) bool {
	return method == "HEAD" || status == 204 || status == 304
}
