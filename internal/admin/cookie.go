package admin

import (
	"net"
	"net/http"
	"strings"
	"time"

	"sluice/internal/identity"
	"sluice/internal/wire"
)

// The cookie that holds the token of a session. Over TLS it has a prefix with which browsers
// take it from this host alone, by TLS, for all of its paths: no other host of the domain
// can put a session of its own in its place.
// Source: RFC 6265bis section 4.1.3.2.
const (
	cookieName     = "sluice_session"
	hostCookieName = "__Host-" + cookieName
)

// Browsers says by which way browsers come. The zero value is for a gateway that they reach
// directly.
type Browsers struct {
	Console string       // where people reach the console (CONTROL_PLANE_URL): "https://gateway.example.com"
	Proxies wire.Proxies // who is believed about how a request came; may be nil
}

func (k deps) browsers() Browsers { return Browsers{Console: k.ConsoleURL, Proxies: k.Proxies} }

// secure reports whether a browser came by TLS, to the gateway or to what stands before it.
func (b Browsers) secure(r *http.Request) bool {
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		remote = r.RemoteAddr
	}
	return r.TLS != nil || isHTTPS(b.Console) || b.Proxies.Secure(remote, r.Header.Values("X-Forwarded-Proto")...)
}

// cookie holds the token: for this host alone, out of reach of scripts, and sent by no other
// site. An empty one of the past ends it.
func (b Browsers) cookie(r *http.Request, token string, until time.Time) *http.Cookie {
	c := &http.Cookie{Name: cookieName, Value: token, Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if b.secure(r) {
		c.Name, c.Secure = hostCookieName, true
	}
	return c
}

// token is what the cookie of a request holds, "" for none. Where browsers come by TLS that
// without the prefix is not looked at: somebody else may have set it.
func (b Browsers) token(r *http.Request) string {
	name := cookieName
	if b.secure(r) {
		name = hostCookieName
	}
	if c, err := r.Cookie(name); err == nil && identity.IsToken(c.Value) {
		return c.Value
	}
	return ""
}

func isHTTPS(url string) bool { return strings.HasPrefix(url, "https://") }
