package netguard

import (
	"net/netip"
	"strings"
)

// neverNames are names that no trusted list may permit, each with all names below it: metadata
// services, names that a cluster resolves internally, and DNS services that return any
// requested address.
// Source: contract/dataplane.md 4.9.
var neverNames = []string{
	"metadata", "instance-data", "kubernetes",
	"kubernetes.default", "kubernetes.default.svc",
	"metadata.google.internal", "metadata.goog", "metadata.azure.com", "metadata.azure.internal",
	"metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com",
	"instance-data.ec2.internal",
	"cluster.local", "consul",
	"nip.io", "sslip.io", "xip.io", "localtest.me", "lvh.me", "vcap.me", "traefik.me", "localhost.run",
}

// refusedSuffixes are the suffixes of names that require a trusted host.
// Source: contract/dataplane.md 4.9.
var refusedSuffixes = []string{
	"local", "localdomain", "internal", "intranet", "lan", "home", "corp", "test", "invalid", "onion", "localhost",
}

// blockedName reports whether a lower-case name may never be called.
func blockedName(host string) bool { return oneOf(host, neverNames) }

// refusedName reports whether a lower-case name requires trust because of its suffix.
func refusedName(host string) bool { return oneOf(host, refusedSuffixes) }

func oneOf(host string, domains []string) bool {
	for _, d := range domains {
		if host == d || isSubdomain(host, d) {
			return true
		}
	}
	return false
}

// numeric reports whether the last label is a number in any base. Some resolvers read such a
// name as an IPv4 address: "2130706433", "0x7f.1", "010.0.0.1".
// Source: https://url.spec.whatwg.org/#ends-in-a-number-checker, read 2026-11.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// malformed returns the syntax rule that a lower-case name breaks, or "".
func malformed(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	labels := strings.Split(host, ".")
	switch {
	case len(host) > 253:
		return "its host is longer than 253 characters"
	case strings.HasSuffix(host, "."):
		return "its host must not end with a dot"
	case len(labels) > maxLabels:
		return "its host has more than 10 labels"
	case numeric(host):
		return "an IPv4 address must be written as four decimal numbers"
	}
	for _, l := range labels {
		switch {
		case l == "" || len(l) > 63:
			return "its host has an empty label or one over 63 characters"
		case strings.Trim(l, labelBytes) != "":
			return "its host may contain only letters, digits, hyphens, underscores and dots"
		case strings.HasPrefix(l, "xn--"):
			return "an internationalised host name (xn--) is not accepted"
		}
	}
	return ""
}

const (
	maxLabels  = 10
	labelBytes = "abcdefghijklmnopqrstuvwxyz0123456789-_"
)
