// Package netguard keeps the gateway from being used to reach what its callers
// must not reach: machines of the private network, the gateway's own host, cloud
// metadata services. It works twice. CheckURL judges a URL as text, when a caller
// names it. Dial judges the addresses a name resolves to, for every upstream,
// when the connection is made, and connects to exactly an address it has judged,
// so that a name cannot change its meaning in between.
//
// Hosts an operator lists as trusted are free of these rules, except of the
// short list of names and addresses that nobody may trust (cloud metadata,
// cluster-internal names, wildcard DNS services). To be trusted is to be dialled and
// nothing more: which hosts stored credentials may go to is a list of its own
// (WithKeyHosts).
// Source: contract/dataplane.md 4.9, contract/identity-and-governance.md 14.
package netguard

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Resolver turns a name into addresses. *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns the addresses of host; network is "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

var _ Resolver = (*net.Resolver)(nil)

// Guard judges URLs, names and addresses. It is immutable and safe for
// concurrent use.
type Guard struct {
	names    []trustedName
	addrs    map[netip.Addr]bool
	ranges   []netip.Prefix
	keyHosts map[string]bool // "host:port" that stored credentials may go to
	resolver Resolver
}

// trustedName is one entry of the trusted list that is not an address.
type trustedName struct {
	name   string // "example.com"
	itself bool   // false for "*.example.com": only what lies below
}

// New makes a guard that trusts the given hosts: names ("llm.corp", which covers
// the names below it too), names below a domain ("*.corp") and addresses
// ("10.1.2.3", "[::1]") or ranges of them ("10.1.0.0/16"), which are about hosts written
// as addresses. Scheme, port and path of an entry are ignored, so that
// "http://llm.corp:8000/v1" is the same as "llm.corp". Empty entries and a bare
// "*" are ignored. A nil list trusts nobody.
func New(trusted []string) *Guard {
	g := &Guard{addrs: map[netip.Addr]bool{}, resolver: net.DefaultResolver}
	for _, entry := range trusted {
		if r, err := netip.ParsePrefix(strings.TrimSpace(entry)); err == nil {
			g.ranges = append(g.ranges, r.Masked())
			continue
		}
		host := entryHost(entry)
		if a, err := netip.ParseAddr(host); err == nil {
			g.addrs[a.Unmap()] = true
			continue
		}
		parent, wild := strings.CutPrefix(host, "*.")
		if parent != "" && !strings.Contains(parent, "*") {
			g.names = append(g.names, trustedName{name: parent, itself: !wild})
		}
	}
	return g
}

// WithResolver returns a copy that looks names up with r.
func (g *Guard) WithResolver(r Resolver) *Guard {
	c := *g
	c.resolver = r
	return &c
}

// entryHost reduces an entry of the trusted list to its host, in lower case.
func entryHost(entry string) string {
	host := strings.ToLower(strings.TrimSpace(entry))
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host = rest
	}
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	if _, err := netip.ParseAddr(host); err == nil { // "::1" has colons, but no port
		return host
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}

// trusts reports whether the operator listed the host, a lower-case name or an
// address in its usual spelling.
func (g *Guard) trusts(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return g.trustsAddr(a.Unmap())
	}
	for _, t := range g.names {
		if t.itself && host == t.name || isSubdomain(host, t.name) {
			return true
		}
	}
	return false
}

// trustsAddr reports whether the operator listed an address, by itself or with others.
func (g *Guard) trustsAddr(a netip.Addr) bool {
	return g.addrs[a] || slices.ContainsFunc(g.ranges, func(r netip.Prefix) bool { return r.Contains(a) })
}

// isSubdomain reports whether name is a proper subdomain of domain.
func isSubdomain(name, domain string) bool {
	return len(name) > len(domain)+1 && strings.HasSuffix(name, domain) && name[len(name)-len(domain)-1] == '.'
}
