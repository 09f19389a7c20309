package netguard

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/kernel/fault"
)

// maxURLBytes is the maximum length of a URL from a caller.
// Source: contract/dataplane.md 4.9.
const maxURLBytes = 2048

// servicePorts are ports of services other than models. An untrusted URL with one of them is
// likely an attempt to enter a network.
// Source: contract/dataplane.md 4.9, which names the first and leaves the list open.
var servicePorts = []int{
	20, 21, 22, 23, 25, 53, 110, 111, 119, 135, 137, 138, 139, 143, 161, 179, 389, 445, 465, 512, 513, 514, 587, 636, 873,
	993, 995, 1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 5984, 5985, 5986, 6379, 6443,
	9042, 9092, 9200, 9300, 10250, 10255, 11211, 27017, 27018, 27019,
}

// CheckURL checks a URL from a caller, for example the custom host
// "https://llm.example.com/v1". It checks only the text and does not look up names. A malformed
// URL is fault.InvalidRequest. A forbidden address, name or port is fault.AddressRefused. Both
// texts name the rule and may be shown to the caller. The caller of CheckURL adds the field.
// Trust lifts the rules about addresses, name suffixes and ports, but not the syntax rules.
func (g *Guard) CheckURL(raw string) error {
	u, err := parse(raw)
	if err != nil {
		return err
	}
	host := strings.ToLower(u.Hostname())
	if rule := malformed(host); rule != "" {
		return invalid(rule)
	}
	port, err := checkPort(u)
	if err != nil {
		return err
	}
	if blockedName(host) {
		return fault.New(fault.AddressRefused, "the URL contains a metadata, cluster or wildcard DNS host, which is not allowed")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return g.checkLiteral(a, port)
	}
	switch {
	case g.trusts(host):
		return nil
	case refusedName(host):
		return fault.New(fault.AddressRefused, "the URL contains a private domain, which is blocked; an operator can allow it in TRUSTED_CUSTOM_HOSTS")
	}
	return refusePort(port)
}

// parse applies the rules for the URL as a whole.
func parse(raw string) (*url.URL, error) {
	if len(raw) > maxURLBytes {
		return nil, invalid("it is longer than 2048 characters")
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] <= ' ' || raw[i] >= 0x7f || raw[i] == '\\' {
			return nil, invalid("it may contain only printable ASCII characters, without blanks and backslashes")
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Opaque != "":
		return nil, invalid("it is not a valid URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, invalid("its scheme must be http or https")
	case u.User != nil || strings.Contains(u.Host, "@"):
		return nil, invalid("it must not contain credentials")
	case strings.Contains(raw, "#"):
		return nil, invalid("it must not contain a fragment")
	case u.Hostname() == "":
		return nil, invalid("it must have a host")
	case strings.Contains(authority(raw), "%"):
		return nil, invalid("its host must not contain a percent sign")
	}
	return u, nil
}

// authority returns host and port of a URL as written.
func authority(raw string) string {
	_, rest, _ := strings.Cut(raw, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[:i]
	}
	return rest
}

// checkPort returns the port, or 0 when the URL does not have one.
func checkPort(u *url.URL) (int, error) {
	if u.Port() == "" {
		if strings.HasSuffix(u.Host, ":") {
			return 0, invalid("its port must not be empty")
		}
		return 0, nil
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil || port < 1 || port > 65535 {
		return 0, invalid("its port must be between 1 and 65535")
	}
	return port, nil
}

func (g *Guard) checkLiteral(a netip.Addr, port int) error {
	switch what := blockedAddr(a); {
	case what != "":
		return refuse(what)
	case a.Is4In6(), nat64.Contains(a):
		return fault.New(fault.AddressRefused, "the URL contains an IPv4 address inside an IPv6 address, which is not allowed")
	case g.trustsAddr(a):
		return nil
	}
	if what := refusedAddr(a); what != "" {
		return refuseUntrusted(what)
	}
	return refusePort(port)
}

func refusePort(port int) error {
	if slices.Contains(servicePorts, port) {
		return fault.Newf(fault.AddressRefused, "port %d belongs to another service and is not allowed", port)
	}
	return nil
}

func refuse(what string) *fault.Error {
	return fault.Newf(fault.AddressRefused, "the host resolves to %s address, which is not allowed", what)
}

// refuseUntrusted returns the error for an address that only a trusted host may have.
func refuseUntrusted(what string) *fault.Error {
	return fault.Newf(fault.AddressRefused, "the host resolves to %s address, which is blocked; an operator can allow it in TRUSTED_CUSTOM_HOSTS", what)
}

func invalid(rule string) *fault.Error {
	return fault.New(fault.InvalidRequest, "the URL is not valid: "+rule)
}
