package admin

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider"
	"sluice/internal/resource"
	"sluice/internal/sealed"
)

// checkHostUnchanged refuses an edit by which stored secrets would follow a record to another host: who
// may change it could otherwise have them sent to a host, or to a resource of the provider,
// of their own. Before are the values that were stored, v those to be stored, and fields
// those that were sent.
func (s secrets) checkHostUnchanged(sent resource.Sent, fields map[string]json.RawMessage, before, v values, mappings []sealed.Mapping) error {
	was, now := s.targetHost(before, mappings), s.targetHost(s.comparable(v, before), mappings)
	if was == now || now == origin(s.spec.BaseURL) { // the provider's own, where all calls of all customers go
		return nil
	}
	if path := s.unsentSecretPath(v, sent, fields, mappings); path != "" {
		return fault.Newf(fault.InvalidParameter, "%s points to another host; send this field again", s.moved(before, v)).WithParam(path)
	}
	return nil
}

// targetHost tells the host that calls go to with some values, "https://good.openai.azure.com";
// where the provider cannot say it, the values that it would be made of.
func (s secrets) targetHost(v values, mappings []sealed.Mapping) string {
	p, err := s.spec.Plan(anyCall, s.ready(v.stand(mappings)))
	if err == nil {
		return p.Scheme + "://" + strings.ToLower(p.Host)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if isDestinationField(name) && !s.secret(name) {
			parts = append(parts, name+"="+origin(text(v[name])))
		}
	}
	return strings.Join(parts, "&")
}

// anyCall is one that every provider takes, for what does not depend on the call.
var anyCall = provider.Call{Endpoint: llm.Proxy, Method: "GET", Path: "/", Model: "model", User: "user"}

// comparable are values with the regions of others, since another region is the same
// provider's, and with their secrets where there are none, so that the host can be told.
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

// moved is the field that leads elsewhere than before.
func (s secrets) moved(before, v values) string {
	for _, name := range append([]string{customHost}, slices.Sorted(maps.Keys(v))...) {
		if text(v[name]) != "" && text(v[name]) != text(before[name]) && isDestinationField(name) && !s.secret(name) {
			return name
		}
	}
	return customHost
}
