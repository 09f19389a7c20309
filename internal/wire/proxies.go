package wire

import (
	"fmt"
	"net/netip"
	"strings"
)

// Proxies are the networks of proxies whose word about where a request came from is
// taken. The nil list trusts nobody. Safe for concurrent use once made.
type Proxies []netip.Prefix

// mappedBits is what stands before an IPv4 address in the IPv6 form of it.
// Source: RFC 4291 section 2.5.5.2.
const mappedBits = 96

// ParseProxies reads networks, each a CIDR such as "10.0.0.0/8" or one address. IPv4
// may be written as IPv6, "::ffff:10.0.0.0/104", but no network of which it is a part.
func ParseProxies(list []string) (Proxies, error) {
	var p Proxies
	for _, text := range list {
		if addr, err := netip.ParseAddr(text); err == nil {
			p = append(p, netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		if prefix.Addr().Is4In6() {
			if prefix.Bits() < mappedBits {
				return nil, fmt.Errorf("%q covers more than IPv4 addresses; use 0.0.0.0/0 for all of these", text)
			}
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mappedBits)
		}
		p = append(p, prefix.Masked())
	}
	return p, nil
}

// Client is the address that a request came from: remote, which is that of the
// socket, unless it is a trusted proxy's. Then it is the last address in the values
// of X-Forwarded-For that is no trusted proxy's, because only what trusted proxies
// have added there can be believed. What cannot be read ends the search.
func (p Proxies) Client(remote string, forwarded ...string) string {
	if len(p) == 0 || len(forwarded) == 0 || !p.trusts(remote) {
		return remote
	}
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := hop(hops[i])
		if !ok {
			return remote
		}
		remote = addr
		if !p.trusts(remote) {
			return remote
		}
	}
	return remote
}

// Secure reports whether a request came to a trusted proxy by TLS: remote is the address of
// the socket, forwarded the values of X-Forwarded-Proto, of which the first one is about the
// client.
func (p Proxies) Secure(remote string, forwarded ...string) bool {
	if len(p) == 0 || len(forwarded) == 0 || !p.trusts(remote) {
		return false
	}
	first, _, _ := strings.Cut(forwarded[0], ",")
	return strings.EqualFold(strings.TrimSpace(first), "https")
}

// hop reads one address of X-Forwarded-For, with or without a port.
func hop(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if addrPort, err := netip.ParseAddrPort(text); err == nil {
		return addrPort.Addr().Unmap().String(), true
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap().WithZone("").String(), err == nil
}

func (p Proxies) trusts(remote string) bool {
	addr, err := netip.ParseAddr(remote)
	if err != nil {
		return false
	}
	addr = addr.Unmap().WithZone("")
	for _, prefix := range p {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
