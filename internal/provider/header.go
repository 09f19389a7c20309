package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// header collects the credential fields that are sent as headers, and the custom headers.
func (q *query) header(e *Endpoint) (wire.Header, error) {
	var h wire.Header
	for _, i := range q.spec.up {
		f := &q.spec.Fields[i]
		v := f.flagged(q.value(f.Name))
		if v == "" || slices.Contains(e.Without, f.Name) {
			continue
		}
		if !wire.ValidValue(v) {
			return nil, invalid(f.Name, "%s must not contain control characters", f.Name)
		}
		h = append(h, wire.Field{Name: f.Upstream, Value: v})
	}
	if custom := q.values[customHeaders]; custom != "" {
		return appendCustom(h, custom)
	}
	return h, nil
}

// flagged returns the value in the provider's form when it is a list of flags.
func (f *Field) flagged(v string) string {
	if len(f.Flags) == 0 || v == "" {
		return v
	}
	var list []string
	for flag := range strings.SplitSeq(v, ",") {
		flag = strings.TrimSpace(flag)
		for start, name := range f.Flags {
			if strings.HasPrefix(flag, start) {
				flag = name
				break
			}
		}
		if flag != "" && !slices.Contains(list, flag) {
			list = append(list, flag)
		}
	}
	return strings.Join(list, ",")
}

// Limits of custom_headers. (ours)
const (
	maxCustom      = 32
	maxCustomBytes = 16 << 10
)

// appendCustom adds the headers of a JSON object of strings. It refuses headers that frame the
// message or control the gateway. When a name occurs in two spellings, the lower-case one comes
// last, and Apply uses that one.
func appendCustom(h wire.Header, doc string) (wire.Header, error) {
	var m map[string]string
	if len(doc) > maxCustomBytes || json.Unmarshal([]byte(doc), &m) != nil || len(m) > maxCustom {
		return nil, invalid(customHeaders, "custom_headers must be a JSON object of at most %d strings", maxCustom)
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		low, v := strings.ToLower(name), m[name]
		if !wire.ValidName(name) || !wire.ValidValue(v) || framing(low) || strings.HasPrefix(low, "x-gateway-") {
			return nil, invalid(customHeaders, "custom_headers must not set the header %q", low)
		}
		h = append(h, wire.Field{Name: low, Value: v})
	}
	slices.SortStableFunc(h, func(a, b wire.Field) int { return strings.Compare(a.Name, b.Name) })
	return h, nil
}

func framing(name string) bool {
	return name == "host" || name == "content-length" || name == "expect" || wire.HopByHop(name)
}

// Apply sets the plan's headers over those from the client, and adds its defaults where the
// client sent none. Signing adds the credential afterwards.
// Source: contract/dataplane.md 1.4.
func (p *Plan) Apply(h *wire.Header) {
	for _, f := range p.Defaults {
		if !h.Has(f.Name) {
			h.Add(f.Name, f.Value)
		}
	}
	for _, f := range p.Header {
		h.Set(f.Name, f.Value)
	}
}

// invalid returns an error that names a field.
func invalid(field, format string, args ...any) error {
	return fault.Newf(fault.InvalidRequest, format, args...).WithParam(field)
}
