package transport

import (
	"bytes"

	"sluice/internal/wire"
)

const (
	httpVersion = "HTTP/1."
	maxFields   = 256
	// maxLengthDigits keeps announced lengths far from overflow.
	maxLengthDigits = 18
)

// head is the parsed head of an answer.
type head struct {
	status  int
	minor   byte // '0' or '1'
	header  wire.Header
	length  int64 // announced length, -1 when none
	chunked bool
	closes  bool // the peer will close the connection
}

// parseHead reads a complete head, up to and including the empty line. The
// strictness is that of the package comment.
func (buf *buffer) parseHead(b []byte) (head, error) {
	h := head{length: -1}
	eol := bytes.IndexByte(b, '\n')
	if err := h.parseStatus(b[:eol+1]); err != nil {
		return h, err
	}
	lines := b[eol+1 : len(b)-2]
	buf.fields = buf.fields[:0]
	for at := 0; at < len(lines); {
		n := bytes.IndexByte(lines[at:], '\n') + 1
		m, err := parseField(lines, at, at+n)
		if err != nil {
			return h, err
		}
		if len(buf.fields) == maxFields {
			return h, garbage("the head has too many lines")
		}
		buf.fields = append(buf.fields, m)
		at += n
	}
	h.header = buf.header(lines)
	return h, h.framing()
}

// parseStatus reads "HTTP/1.1 200 OK\r\n". The reason may be missing.
// Source: RFC 9112 section 4.
func (h *head) parseStatus(line []byte) error {
	const code = len("HTTP/1.1 ")
	n := len(line) - len("\r\n")
	if n < code+3 || string(line[:len(httpVersion)]) != httpVersion || line[code-1] != ' ' || line[n] != '\r' {
		return garbage("the status line is malformed")
	}
	h.minor = line[len(httpVersion)]
	if h.minor != '0' && h.minor != '1' {
		return garbage("the HTTP version is not known")
	}
	for _, c := range line[code : code+3] {
		if c < '0' || c > '9' {
			return garbage("the status is not a number")
		}
		h.status = h.status*10 + int(c-'0')
	}
	reason := line[code+3 : n]
	if h.status < 100 || len(reason) > 0 && reason[0] != ' ' || !cleanValue(reason) {
		return garbage("the status line is malformed")
	}
	return nil
}

// parseField reads the line lines[from:to] and lowers its name in place.
func parseField(lines []byte, from, to int) (mark, error) {
	end := to - len("\r\n")
	if end < from || lines[end] != '\r' {
		return mark{}, garbage("a line of the head ends without a carriage return")
	}
	at := from
	for ; at < end && lines[at] != ':'; at++ {
		c := lines[at]
		if !tokens[c] {
			return mark{}, garbage("a header name is malformed")
		}
		if 'A' <= c && c <= 'Z' {
			lines[at] = c + 'a' - 'A'
		}
	}
	if at == from || at == end {
		return mark{}, garbage("a line of the head has no name")
	}
	m := mark{name: from, nameEnd: at, value: at + 1, valueEnd: end}
	for m.value < end && blank(lines[m.value]) {
		m.value++
	}
	for m.valueEnd > m.value && blank(lines[m.valueEnd-1]) {
		m.valueEnd--
	}
	if !cleanValue(lines[m.value:m.valueEnd]) {
		return mark{}, garbage("a header value holds control bytes")
	}
	return m, nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// cleanValue is wire.ValidValue for bytes.
func cleanValue(v []byte) bool {
	for _, c := range v {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// framing finds out where the body ends. Source: RFC 9112 section 6.3.
func (h *head) framing() error {
	h.closes = h.minor == '0'
	for i := range h.header {
		f := &h.header[i]
		switch f.Name {
		case "content-length":
			if h.length >= 0 {
				return garbage("Content-Length is repeated")
			}
			if h.length = parseLength(f.Value); h.length < 0 {
				return garbage("Content-Length is malformed")
			}
		case "transfer-encoding":
			if h.chunked || h.minor == '0' || !equalFold(f.Value, "chunked") {
				return garbage("Transfer-Encoding is not chunked alone")
			}
			h.chunked = true
		case "connection":
			h.closes = h.closes || hasToken(f.Value, "close")
		}
	}
	if h.chunked && h.length >= 0 {
		return garbage("both Content-Length and Transfer-Encoding are given")
	}
	return nil
}

// parseLength reads a decimal number, -1 when it is none.
func parseLength(s string) int64 {
	if s == "" || len(s) > maxLengthDigits {
		return -1
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n
}

// equalFold compares ASCII without case; unlike strings.EqualFold it knows no
// letters of other scripts, such as the Kelvin sign.
func equalFold(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// bodyless reports whether an answer has no body whatever its head says.
// Source: RFC 9110 section 6.4.1.
func bodyless(method string, status int) bool {
	return method == "HEAD" || status == 204 || status == 304
}
