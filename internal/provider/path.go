package provider

import (
	"net/netip"
	"strings"

	"sluice/internal/http1/syntax"
)

// safePath reports whether an escaped path cannot leave its base. It must be printable, with
// complete percent escapes, without query, fragment or backslash, and without a "." or ".."
// element, even with escaped dots or separators. All other characters, %2F and %3A in
// particular, are valid and are sent unchanged.
func safePath(p string) bool {
	chars, dots := 0, 0 // counts of the current element
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c <= ' ' || c == 0x7f || c == '\\' || c == '?' || c == '#':
			return false
		case c == '%':
			if i+2 >= len(p) {
				return false
			}
			high, low := syntax.HexValue(p[i+1]), syntax.HexValue(p[i+2])
			if high < 0 || low < 0 {
				return false
			}
			c = byte(high<<4 | low)
			i += 2
		}
		switch c {
		case '/', '\\':
			if dotted(chars, dots) {
				return false
			}
			chars, dots = 0, 0
			continue
		case '.':
			dots++
		}
		chars++
	}
	return !dotted(chars, dots)
}

// dotted reports whether an element is "." or "..".
func dotted(chars, dots int) bool { return chars > 0 && chars == dots && chars <= 2 }

// safeQuery reports whether a raw query is valid in a request target.
func safeQuery(q string) bool {
	for i := 0; i < len(q); i++ {
		if c := q[i]; c <= ' ' || c == 0x7f || c == '#' {
			return false
		}
	}
	return true
}

// escape writes v for a path. Unreserved characters and those in allowed are unchanged, all
// others become percent escapes.
func escape(b *strings.Builder, v, allowed string) {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(v); i++ {
		c := v[i]
		if alnum(c) || strings.IndexByte("-._~", c) >= 0 || strings.IndexByte(allowed, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
}

// hasParam reports whether a raw query contains a parameter, without unescaping names.
func hasParam(query, name string) bool {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if key, _, _ := strings.Cut(pair, "="); key == name {
			return true
		}
	}
	return false
}

// base is a parsed base URL: "https", "host:443", "/v1" (no slash at the end).
type base struct{ scheme, host, path string }

// parseBase parses an absolute http or https URL. It refuses a user, query, fragment or control
// bytes, an unsafe path, and a host with characters other than letters, digits, dots, dashes
// and underscores (an IP literal in brackets is valid). The address guard decides whether the
// host may be called.
func parseBase(raw string) (base, bool) {
	if len(raw) > 2048 {
		return base{}, false
	}
	var b base
	rest, ok := strings.CutPrefix(raw, "https://")
	b.scheme = "https"
	if !ok {
		if rest, ok = strings.CutPrefix(raw, "http://"); !ok {
			return base{}, false
		}
		b.scheme = "http"
	}
	b.host, b.path = rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		b.host, b.path = rest[:i], strings.TrimRight(rest[i:], "/")
	}
	return b, authority(b.host) && safePath(b.path) && !strings.HasPrefix(b.path, "//")
}

// authority reports whether h is a host with an optional port.
func authority(h string) bool {
	name, port := h, ""
	if strings.HasPrefix(h, "[") {
		i := strings.IndexByte(h, ']')
		if i < 0 {
			return false
		}
		ip, err := netip.ParseAddr(h[1:i])
		return err == nil && ip.Is6() && ip.Zone() == "" && (i+1 == len(h) || portOK(h[i+1:]))
	}
	if i := strings.IndexByte(h, ':'); i >= 0 {
		name, port = h[:i], h[i:]
	}
	return len(name) <= 253 && hostName(name) && (port == "" || portOK(port))
}

func portOK(p string) bool {
	n := 0
	for _, c := range []byte(p[1:]) {
		if c < '0' || c > '9' || n > 65535 {
			return false
		}
		n = n*10 + int(c-'0')
	}
	return p[0] == ':' && n >= 1 && n <= 65535
}

// hostName reports whether s has only characters of host names.
func hostName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !alnum(s[i]) && strings.IndexByte(".-_", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}
