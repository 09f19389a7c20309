package people

import (
	"net"
	"net/http"
	"strings"
	"time"

	"sluice/internal/domain/identity"
	"sluice/internal/kernel/wire"
)

// The cookie that contains the session token. Over TLS its name has a prefix: browsers then
// accept it only from this host, over TLS, for all paths. Other hosts of the domain cannot
// replace it with a session of their own.
// Source: RFC 6265bis section 4.1.3.2.
const (
	cookieName     = "sluice_session"
	hostCookieName = "__Host-" + cookieName
)

// Browsers describes how browsers reach the gateway. The zero value is for a gateway that they
// reach directly.
type Browsers struct {
	Console string       // public address of the console (CONTROL_PLANE_URL): "https://gateway.example.com"
	Proxies wire.Proxies // proxies that are trusted to report how a request came; may be nil
}

func (k sessions) browsers() Browsers { return Browsers{Console: k.ConsoleURL, Proxies: k.Proxies} }

// secure reports whether a browser used TLS, to the gateway or to a proxy before it.
func (b Browsers) secure(r *http.Request) bool {
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		remote = r.RemoteAddr
	}
	return r.TLS != nil || isHTTPS(b.Console) || b.Proxies.Secure(remote, r.Header.Values("X-Forwarded-Proto")...)
}

// cookie returns the cookie with the token: for this host only, not readable by scripts, and not
// sent by other sites. An empty one with a past expiry ends the session.
func (b Browsers) cookie(r *http.Request, token string, until time.Time) *http.Cookie {
	c := &http.Cookie{Name: cookieName, Value: token, Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if b.secure(r) {
		c.Name, c.Secure = hostCookieName, true
	}
	return c
}

// token returns the value of the cookie of a request, "" for none. If browsers use TLS, a cookie
// without the prefix is ignored, because another host may have set it.
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
