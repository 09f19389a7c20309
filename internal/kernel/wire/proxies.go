package wire

import (
	"fmt"
	"net/netip"
	"strings"
)

// Proxies are the networks of proxies whose forwarding headers are trusted. The nil list trusts
// no proxy. It is safe for concurrent use.
type Proxies []netip.Prefix

// mappedBits is the number of bits before an IPv4 address in its IPv6 form.
// Source: RFC 4291 section 2.5.5.2.
const mappedBits = 96

// ParseProxies parses networks, each a CIDR such as "10.0.0.0/8" or one address. IPv4 networks
// may have the IPv6 form "::ffff:10.0.0.0/104". A mapped network that covers more than the
// IPv4 addresses is refused.
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

// Client returns the address of the client. It is remote, the address of the socket, unless
// that is a trusted proxy. Then it is the last address in the values of X-Forwarded-For that is
// not a trusted proxy, because only entries added by trusted proxies are reliable. An invalid
// entry ends the search.
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

// Secure reports whether the client used TLS, as a trusted proxy reports it. remote is the
// address of the socket. forwarded contains the values of X-Forwarded-Proto, of which the first
// describes the client's connection.
func (p Proxies) Secure(remote string, forwarded ...string) bool {
	if len(p) == 0 || len(forwarded) == 0 || !p.trusts(remote) {
		return false
	}
	first, _, _ := strings.Cut(forwarded[0], ",")
	return strings.EqualFold(strings.TrimSpace(first), "https")
}

// hop parses one address of X-Forwarded-For, with or without a port.
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
