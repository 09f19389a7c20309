package netguard

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// WithKeyHosts returns a copy that permits sending stored credentials to the given hosts, each
// "host:port", for example "llm.corp:8443", "10.1.2.3:9000" or "[fd12::1]:9000". An entry
// applies to this host and port with any scheme, but not to names below the host. Invalid
// entries are ignored. The list does not permit dialling an address: a private address must be
// trusted as well.
func (g *Guard) WithKeyHosts(hosts []string) *Guard {
	c := *g
	c.keyHosts = make(map[string]bool, len(hosts))
	for _, entry := range hosts {
		if host, port, err := net.SplitHostPort(strings.TrimSpace(entry)); err == nil && host != "" && port != "" {
			c.keyHosts[hostPort(host, port)] = true
		}
	}
	return &c
}

// TakesStoredKeys reports whether the operator permits stored credentials for the host and port
// of a URL, for example "https://llm.corp:8443/v1", although neither the credential nor its
// provider names that host. Without a port the URL means 443 for https and 80 for http. It
// returns false for a host that may only be dialled (New), and for a name or address that no
// list may permit.
func (g *Guard) TakesStoredKeys(raw string) bool {
	if len(g.keyHosts) == 0 {
		return false
	}
	u, err := parse(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if a, err := netip.ParseAddr(host); err == nil && blockedAddr(a) != "" {
		return false
	}
	return !blockedName(host) && g.keyHosts[hostPort(host, portOf(u))]
}

// MayReceive reports whether a stored credential may be sent to a URL that another person
// chose. The URL must have the scheme, host and port of one of saved, the URLs stored with the
// credential or its provider, or TakesStoredKeys must permit it.
func (g *Guard) MayReceive(raw string, saved ...string) bool {
	return slices.ContainsFunc(saved, func(s string) bool { return sameOrigin(s, raw) }) || g.TakesStoredKeys(raw)
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Host != "" && ua.Scheme == ub.Scheme && strings.EqualFold(ua.Host, ub.Host)
}

// hostPort returns the form in which hosts and ports are compared: names in lower case,
// addresses in one spelling.
func hostPort(host, port string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.Unmap().String()
	}
	return net.JoinHostPort(host, port)
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}
