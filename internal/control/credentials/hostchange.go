package credentials

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sluice/internal/control/destination"
	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/sealed"
	"sluice/internal/provider"
)

// checkHostUnchanged rejects an edit that would send stored secrets to another host. Otherwise a
// caller who may change the record could have them sent to a host, or a resource of the
// provider, of their own. before are the stored values, v the values to be stored, and fields
// the fields that were sent.
func (s secrets) checkHostUnchanged(sent resource.Sent, fields map[string]json.RawMessage, before, v values, mappings []sealed.Mapping) error {
	was, now := s.targetHost(before, mappings), s.targetHost(s.comparable(v, before), mappings)
	if was == now || now == destination.Origin(s.spec.BaseURL) { // the provider's shared host, where the calls of all customers go
		return nil
	}
	if path := s.unsentSecretPath(v, sent, fields, mappings); path != "" {
		return fault.Newf(fault.InvalidParameter, "%s points to another host; send this field again", s.moved(before, v)).WithParam(path)
	}
	return nil
}

// targetHost returns the host that calls go to with some values,
// "https://good.openai.azure.com". If the provider cannot determine it, the result is built from
// the values that determine the host.
func (s secrets) targetHost(v values, mappings []sealed.Mapping) string {
	p, err := s.spec.Plan(anyCall, s.ready(v.stand(mappings)))
	if err == nil {
		return p.Scheme + "://" + strings.ToLower(p.Host)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if destination.IsField(name) && !s.secret(name) {
			parts = append(parts, name+"="+destination.Origin(text(v[name])))
		}
	}
	return strings.Join(parts, "&")
}

// anyCall is a call that every provider accepts, for everything that does not depend on the
// call.
var anyCall = provider.Call{Endpoint: llm.Proxy, Method: "GET", Path: "/", Model: "model", User: "user"}

// comparable returns the values with the regions of other, since another region belongs to the
// same provider. It fills in missing secrets, so that the host can be determined.
func (s secrets) comparable(v, other values) values {
	out := maps.Clone(v)
	for _, f := range s.spec.Fields {
		raw, there := other[f.Name]
		switch _, has := out[f.Name]; {
		case strings.HasSuffix(f.Name, "_region") && !there:
			delete(out, f.Name)
		case there && (strings.HasSuffix(f.Name, "_region") || s.secret(f.Name) && !has):
			out[f.Name] = raw
		}
	}
	return out
}

// moved returns the name of a field that changed the destination.
func (s secrets) moved(before, v values) string {
	for _, name := range append([]string{customHost}, slices.Sorted(maps.Keys(v))...) {
		if text(v[name]) != "" && text(v[name]) != text(before[name]) && destination.IsField(name) && !s.secret(name) {
			return name
		}
	}
	return customHost
}
