// Package netguard prevents callers from using the gateway to reach forbidden targets: machines
// of the private network, the gateway's own host, cloud metadata services. It checks twice.
// CheckURL checks the text of a URL from a caller. Dial checks the addresses to which a name
// resolves, for every upstream and every new connection. It connects only to an address that it
// has checked, so a name cannot change its address in between. Start with Guard.
//
// Hosts that the operator lists as trusted are exempt from these rules. The exemption does not
// cover a short list of names and addresses that are never permitted (cloud metadata,
// cluster-internal names, wildcard DNS services). A trusted host may be dialled, no more.
// WithKeyHosts lists the hosts that may receive stored credentials.
// Source: contract/dataplane.md 4.9, contract/identity-and-governance.md 14.
package netguard

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Resolver resolves a name to addresses. *net.Resolver implements it.
type Resolver interface {
	// LookupNetIP returns the addresses of host; network is "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

var _ Resolver = (*net.Resolver)(nil)

// Guard checks URLs, names and addresses. It is immutable and safe for concurrent use.
type Guard struct {
	names    []trustedName
	addrs    map[netip.Addr]bool
	ranges   []netip.Prefix
	keyHosts map[string]bool // "host:port" entries that may receive stored credentials
	resolver Resolver
}

// trustedName is one entry of the trusted list that is not an address.
type trustedName struct {
	name   string // "example.com"
	itself bool   // false for "*.example.com": only names below the domain
}

// New returns a Guard that trusts the given hosts. An entry is a name ("llm.corp", which
// includes the names below it), the names below a domain ("*.corp"), an address ("10.1.2.3",
// "[::1]") or a range ("10.1.0.0/16"). Addresses and ranges apply to hosts written as
// addresses. Scheme, port and path of an entry are ignored, so "http://llm.corp:8000/v1" equals
// "llm.corp". Empty entries and a bare "*" are ignored. A nil list trusts no host.
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

// WithResolver returns a copy that resolves names with r.
func (g *Guard) WithResolver(r Resolver) *Guard {
	c := *g
	c.resolver = r
	return &c
}

// entryHost returns the host of an entry of the trusted list, in lower case.
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

// trusts reports whether the operator listed the host, a lower-case name or an address in its
// canonical spelling.
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

// trustsAddr reports whether the operator listed an address, alone or in a range.
func (g *Guard) trustsAddr(a netip.Addr) bool {
	return g.addrs[a] || slices.ContainsFunc(g.ranges, func(r netip.Prefix) bool { return r.Contains(a) })
}

// isSubdomain reports whether name is a proper subdomain of domain.
func isSubdomain(name, domain string) bool {
	return len(name) > len(domain)+1 && strings.HasSuffix(name, domain) && name[len(name)-len(domain)-1] == '.'
}
