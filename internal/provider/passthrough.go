package provider

import (
	"strings"

	"sluice/internal/kernel/fault"
)

// checkRest checks that a pass-through path stays below the base. It removes the Strip prefix
// of the endpoint, and splits off a host in the path.
func (q *query) checkRest(p *Plan) error {
	rest := q.call.Path
	if p.Endpoint.Strip != "" && strings.HasPrefix(rest, p.Endpoint.Strip+"/") {
		rest = rest[len(p.Endpoint.Strip):]
	}
	if rest != "" && rest[0] != '/' || strings.HasPrefix(rest, "//") || !safePath(rest) {
		return fault.New(fault.InvalidRequest, "the path must be below the provider's base URL")
	}
	q.call.Path = rest
	if host, path, ok := q.hostInPath(rest); ok {
		name, _, _ := strings.Cut(host, ".")
		if resource := q.value(fieldResource); resource != "" && !strings.EqualFold(resource, name) {
			return invalid(fieldResource, "the path must contain the resource of the credential")
		}
		q.inPath, q.call.Path = host, path
	}
	return nil
}

// embedded returns the address of a host that was in the path.
func (q *query) embedded() (base, bool) {
	return base{scheme: "https", host: q.inPath}, q.inPath != ""
}

// hostInPath splits "/contoso.openai.azure.com/openai/x", with or without "/https://" in front,
// when the provider accepts such paths. Only a single label under the provider's suffix is
// valid, so the call cannot reach another host.
// Source: contract/dataplane.md 6.2.
func (q *query) hostInPath(rest string) (host, path string, ok bool) {
	suffix := q.spec.EmbeddedHost
	if suffix == "" || q.host != "" {
		return "", "", false
	}
	first := strings.TrimPrefix(strings.TrimPrefix(rest, "/"), "https://")
	if i := strings.IndexByte(first, '/'); i >= 0 {
		first, path = first[:i], first[i:]
	}
	name, found := strings.CutSuffix(first, suffix)
	return first, path, found && label(name, false)
}
