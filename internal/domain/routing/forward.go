package routing

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// neverForwarded are headers that a caller may not forward: the list itself, the gateway's own
// key, the passthrough header, and those that open the metadata services of clouds.
// Source: contract/dataplane.md 1.1; x-gateway-passthrough is ours.
var neverForwarded = []string{
	"x-gateway-forward-headers", "x-gateway-api-key", "x-gateway-passthrough",
	"metadata-flavor", "x-aws-ec2-metadata-token", "x-google-metadata-request",
}

// ForwardHeaders reads the value of x-gateway-forward-headers: names separated by commas, for
// example "X-Trace, X-Team". A list in brackets with quotes is accepted too. It returns
// lower-case names, and fault.InvalidRequest for a name that is not valid or may not be
// forwarded.
func ForwardHeaders(value string) ([]string, error) {
	value = strings.Trim(strings.TrimSpace(value), "[]")
	var names []string
	for part := range strings.SplitSeq(value, ",") {
		name := strings.Trim(strings.TrimSpace(part), `"'`)
		if name == "" {
			continue
		}
		name, problem := forwardable(name)
		if problem != "" {
			return nil, fault.Newf(fault.InvalidRequest, "x-gateway-forward-headers: %.80q %s", name, problem).WithParam("x-gateway-forward-headers")
		}
		names = append(names, name)
	}
	return names, nil
}

// forwardable returns the lower-case form of a name, and what is wrong with it, if anything.
func forwardable(name string) (lower, problem string) {
	lower = strings.ToLower(strings.TrimSpace(name))
	switch {
	case !wire.ValidName(lower):
		return lower, "is not a valid header name"
	case slices.Contains(neverForwarded, lower):
		return lower, "must not be forwarded"
	}
	return lower, ""
}

// forward reads forward_headers. The result is never nil: an empty list overrides an inherited
// one.
func (p *parser) forward(path string, v gjson.Result) []string {
	names := []string{}
	p.eachItem(path, v, func(path string, v gjson.Result) {
		name := p.text(path, v)
		if name == "" {
			return
		}
		name, problem := forwardable(name)
		if problem != "" {
			p.failf(path, "%s", problem)
		}
		names = append(names, name)
	})
	return names
}
