package netguard

import "net/netip"

// block is a range of addresses with a description for the text of the refusal.
type block struct {
	prefix netip.Prefix
	what   string
}

// never contains the ranges that no trusted list permits: addresses at which a cloud gives its
// machines credentials or permits their administration.
// Source: contract/dataplane.md 4.9.
var never = blocks(
	"169.254.169.0/24", metadata,
	"169.254.170.2/32", metadata,
	"169.254.170.23/32", metadata,
	"100.100.100.200/32", metadata,
	"168.63.129.16/32", metadata,
	"192.0.0.192/32", metadata,
	"fd00:ec2::/96", metadata,
	"fd20:ce::254/128", metadata,
)

const metadata = "a cloud metadata"

// refused contains the ranges that only trusted hosts may use.
// Source: contract/dataplane.md 4.9; IANA special-purpose address registries.
var refused = blocks(
	"0.0.0.0/8", "a this-network",
	"10.0.0.0/8", "a private",
	"100.64.0.0/10", "a carrier-grade NAT",
	"127.0.0.0/8", "a loopback",
	"169.254.0.0/16", "a link-local",
	"172.16.0.0/12", "a private",
	"192.0.0.0/24", "a protocol-assignment",
	"192.0.2.0/24", "a documentation",
	"192.88.99.0/24", "a 6to4 relay",
	"192.168.0.0/16", "a private",
	"198.18.0.0/15", "a benchmark",
	"198.51.100.0/24", "a documentation",
	"203.0.113.0/24", "a documentation",
	"224.0.0.0/4", "a multicast",
	"240.0.0.0/4", "a reserved",
	"::/128", "an unspecified",
	"::1/128", "a loopback",
	"::/96", "an IPv4-compatible",
	"2001::/32", "a Teredo",
	"2001::/23", "a protocol-assignment",
	"2001:db8::/32", "a documentation",
	"2002::/16", "a 6to4",
	"3fff::/20", "a documentation",
	"fc00::/7", "a unique-local",
	"fe80::/10", "a link-local",
	"fec0::/10", "a site-local",
	"ff00::/8", "a multicast",
)

var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
	compat    = netip.MustParsePrefix("::/96")
	global    = netip.MustParsePrefix("2000::/3")
)

// blocks pairs prefixes with their descriptions.
func blocks(pairs ...string) []block {
	bs := make([]block, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		bs = append(bs, block{netip.MustParsePrefix(pairs[i]), pairs[i+1]})
	}
	return bs
}

// blockedAddr returns a description of a when no trusted list may permit it, otherwise "". An
// IPv4 address inside an IPv6 address counts as the IPv4 address.
func blockedAddr(a netip.Addr) string {
	a = a.WithZone("").Unmap()
	if v4, ok := embedded(a); ok {
		a = v4
	}
	return find(never, a)
}

// refusedAddr returns a description of a when untrusted hosts may not have it, otherwise "".
// For an address with the well-known NAT64 prefix, the embedded IPv4 address decides, because
// networks without IPv4 reach all public hosts through this prefix.
func refusedAddr(a netip.Addr) string {
	a = a.WithZone("").Unmap()
	if what := blockedAddr(a); what != "" {
		return what
	}
	if nat64.Contains(a) {
		a, _ = embedded(a)
	}
	if what := find(refused, a); what != "" {
		return what
	}
	if a.Is6() && !global.Contains(a) {
		return "a reserved"
	}
	return ""
}

func find(bs []block, a netip.Addr) string {
	for _, b := range bs {
		if b.prefix.Contains(a) {
			return b.what
		}
	}
	return ""
}

// embedded returns the IPv4 address that an IPv6 address contains.
func embedded(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case !a.Is6():
	case nat64.Contains(a), compat.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}
