package partner

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/domain/guardrail"
)

// hookAddresses are the parameters that contain the address of a hook whose result has one. These hooks
// do no I/O.
var hookAddresses = map[string]string{"acuvity": "credentials.apiKey"}

// addresses returns the addresses of the service that parameters name by a host or inside a credential,
// so that saving a guardrail can reject a private one. Parameters that are complete URLs are not among
// them: their form finds them.
func (c *compiledSpec) addresses(params map[string]any) (list []guardrail.Address) {
	v := &values{params: c.withDefaults(params), consts: c.Constants}
	if path := hookAddresses[c.Hook]; path != "" {
		if result, err := hooks[c.Hook](context.Background(), &runner{spec: c, params: v.params}, v); err == nil {
			list = append(list, guardrail.Address{Path: path, URL: plainText(result["address"])})
		}
	}
	requests := []*compiledRequest{&c.request}
	if c.chat != nil {
		requests = append(requests, c.chat)
	}
	for _, r := range requests {
		path := r.address.hostParameter()
		if path == "" {
			continue
		}
		found := guardrail.Address{Path: path}
		var ok bool
		if found.URL, ok, _ = r.address.base.expand(v, escapeHost); ok && !slices.Contains(list, found) {
			list = append(list, found)
		}
	}
	return list
}

// hostParameter returns the path of the parameter or credential that the host of the address contains:
// "credentials.domain". It is empty for a constant host and for an address that is a complete URL.
func (a *address) hostParameter() string {
	if a.link {
		return ""
	}
	for _, part := range a.base {
		for _, parts := range part.value {
			switch parts[0] {
			case "credentials":
				return strings.Join(parts, ".")
			case "param":
				return strings.Join(parts[1:], ".")
			}
		}
	}
	return ""
}
