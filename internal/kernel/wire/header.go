package wire

import "strings"

// Field is one header line. Name is lower case, for example "content-type".
type Field struct{ Name, Value string }

// Header is a list of header lines in the order of arrival. Look-ups scan the list: for the 10
// to 30 lines of a model call this is cheaper than a map. A Header belongs to one goroutine.
// The zero value is empty and ready to use.
type Header []Field

// Get returns the first value of a lower-case name, or "" without one.
func (h Header) Get(name string) string {
	for i := range h {
		if h[i].Name == name {
			return h[i].Value
		}
	}
	return ""
}

// Has reports whether a line with that lower-case name exists, even an empty one.
func (h Header) Has(name string) bool {
	for i := range h {
		if h[i].Name == name {
			return true
		}
	}
	return false
}

// Values returns all values of a lower-case name, in order.
func (h Header) Values(name string) []string {
	var vs []string
	for i := range h {
		if h[i].Name == name {
			vs = append(vs, h[i].Value)
		}
	}
	return vs
}

// Add appends a line. The name is lower-cased.
func (h *Header) Add(name, value string) {
	*h = append(*h, Field{strings.ToLower(name), value})
}

// Set replaces all lines of that name with one.
func (h *Header) Set(name, value string) {
	name = strings.ToLower(name)
	for i := range *h {
		if (*h)[i].Name == name {
			(*h)[i].Value = value
			h.delFrom(i+1, name)
			return
		}
	}
	*h = append(*h, Field{name, value})
}

// Del removes all lines of that name.
func (h *Header) Del(name string) { h.delFrom(0, strings.ToLower(name)) }

func (h *Header) delFrom(start int, name string) {
	out := (*h)[:start]
	for _, f := range (*h)[start:] {
		if f.Name != name {
			out = append(out, f)
		}
	}
	*h = out
}

// Clone returns a copy with capacity for n further lines.
func (h Header) Clone(n int) Header {
	c := make(Header, len(h), len(h)+n)
	copy(c, h)
	return c
}

// ValidValue reports whether v is valid in a header line: no CR, LF, NUL or other control byte
// except tab. Source: RFC 9110 section 5.5.
func ValidValue(v string) bool {
	for i := 0; i < len(v); i++ {
		if c := v[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// ValidName reports whether n is a header name: one or more token bytes.
// Source: RFC 9110 section 5.1.
func ValidName(n string) bool {
	for i := 0; i < len(n); i++ {
		c := n[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
		if !ok {
			return false
		}
	}
	return n != ""
}

// HopByHop reports whether a lower-case name belongs to one connection and is
// never relayed. Source: RFC 9110 section 7.6.1.
func HopByHop(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade":
		return true
	}
	return false
}

// CredentialHeader reports whether a header with that lower-case name contains a credential for
// a provider or for this gateway. Such a line of a client is for another party and is not
// relayed. Only signing adds credentials for a provider. The subprotocols of a WebSocket may
// contain one (openai-insecure-api-key.…).
func CredentialHeader(name string) bool {
	switch name {
	case "authorization", "x-api-key", "api-key", "x-goog-api-key", "sec-websocket-protocol", "cookie", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256":
		return true
	}
	return false
}

// IsCredentialName reports whether a lower-case header name is that of a credential: "api-key",
// "auth-token", "x_secret".
func IsCredentialName(name string) bool {
	start := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '-' && name[i] != '_' {
			continue
		}
		switch name[start:i] {
		case "key", "apikey", "token", "secret", "auth", "authorization", "cookie", "password", "credential", "credentials":
			return true
		}
		start = i + 1
	}
	return false
}
