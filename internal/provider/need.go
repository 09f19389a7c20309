package provider

import (
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// checkFields checks that every given field matches its class and that every required field is
// given. A custom host does not require a key.
func (q *query) checkFields() error {
	s := q.spec
	for i := range s.Fields {
		f := &s.Fields[i]
		v := q.values[f.Name]
		if v == "" {
			continue
		}
		if len(f.Values) > 0 && !slices.Contains(f.Values, v) {
			return invalid(f.Name, "%s must be one of %s", f.Name, strings.Join(f.Values, ", "))
		}
		if c := class(f.Class); !c.ok(v) {
			return invalid(f.Name, "%s must be %s", f.Name, classes[c])
		}
	}
	for _, i := range s.must {
		f := &s.Fields[i]
		if q.values[f.Name] != "" || f.Name == Key && q.host != "" {
			continue
		}
		if q.matches(f.RequiredIf) {
			return q.missing(f.Name)
		}
	}
	return nil
}

// missing returns the error for a missing field, with a hint how to set it.
func (q *query) missing(name string) error {
	id := q.spec.ID
	switch name {
	case argModel:
		return invalid("model", "%s requires a model; set \"model\" in the body", id)
	case argUser:
		return invalid("user", "%s requires the tenant in the body field \"user\"", id)
	case argID:
		return fault.New(fault.InvalidRequest, "the path must contain an id")
	case customHost:
		return invalid("x-gateway-custom-host", "%s has no public address; send x-gateway-custom-host or save custom_host with the provider", id)
	case Key:
		return invalid("authorization", "%s requires a key; send Authorization: Bearer <provider key>, or select a saved provider with x-gateway-provider: @<slug>", id)
	case argDeployment:
		name = fieldDeployment
	}
	if d := q.spec.Derived[name]; d != nil {
		return q.missingDerived(d)
	}
	if i, ok := q.spec.fields[name]; ok && len(q.spec.Fields[i].Headers) > 0 {
		h := q.spec.Fields[i].Headers[0]
		return invalid(h, "%s requires %s; send %s, set %s in the target, or save it with the provider", id, name, h, name)
	}
	return invalid(name, "%s requires %s", id, name)
}
