package resource

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// A null for a field that cannot be null counts as not sent: an update leaves the field
// unchanged, and a creation uses its default.
// Source: contract/identity-and-governance.yaml, legend.triple_state_put; accepting it is ours,
// for clients that send all fields they have.

// unset reports whether a field was sent as null although it cannot be null.
func (s *schema) unset(name string, raw []byte) bool {
	return string(raw) == "null" && !s.fits(s.root.Properties[name], nil)
}

// withoutNulls removes such nulls from the objects within a value. It returns the value
// unchanged if there are none.
func (s *schema) withoutNulls(schemaOf *huma.Schema, raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte("null")) {
		return raw
	}
	out, _ := s.objects(schemaOf, raw, "", func(schemaOf *huma.Schema, object Sent, _ string) error {
		maps.DeleteFunc(object, func(name string, v json.RawMessage) bool {
			field, known := schemaOf.Properties[name]
			return known && string(v) == "null" && !s.fits(field, nil)
		})
		return nil
	})
	return out
}

// objects calls f for each object within a value that has its own schema, inner objects first. f
// may change the members of an object; path is the path in error messages. Parts that f does not
// change retain their bytes.
func (s *schema) objects(schemaOf *huma.Schema, raw json.RawMessage, path string, f func(schemaOf *huma.Schema, object Sent, path string) error) (json.RawMessage, error) {
	schemaOf = s.schemaAt(schemaOf, raw)
	switch {
	case schemaOf == nil:
		return raw, nil
	case schemaOf.Items != nil:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return raw, nil //nolint:nilerr // the schema rejects it
		}
		changed := false
		for i, v := range list {
			next, err := s.objects(schemaOf.Items, v, path+"["+strconv.Itoa(i)+"]", f)
			if err != nil {
				return raw, err
			}
			changed = changed || !bytes.Equal(next, v)
			list[i] = next
		}
		return encodeChanged(changed, raw, list), nil
	case len(schemaOf.Properties) > 0:
		var object Sent
		if json.Unmarshal(raw, &object) != nil {
			return raw, nil //nolint:nilerr // the schema rejects it
		}
		before := maps.Clone(object)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			next, err := s.objects(schemaOf.Properties[name], object[name], path+"."+name, f)
			if err != nil {
				return raw, err
			}
			object[name] = next
		}
		if err := f(schemaOf, object, path); err != nil {
			return raw, err
		}
		same := maps.EqualFunc(before, object, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
		return encodeChanged(!same, raw, object), nil
	}
	return raw, nil
}

func encodeChanged(changed bool, raw json.RawMessage, v any) json.RawMessage {
	if !changed {
		return raw
	}
	return encoded(v)
}

// schemaAt returns the schema of an object or list. Of several alternatives it chooses the one
// with members or elements, as the value has. It is nil for other values.
func (s *schema) schemaAt(schemaOf *huma.Schema, raw json.RawMessage) *huma.Schema {
	for schemaOf != nil && schemaOf.Ref != "" {
		schemaOf = s.registry.SchemaFromRef(schemaOf.Ref)
	}
	if schemaOf == nil || len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return nil
	}
	for _, alternative := range slices.Concat(schemaOf.OneOf, schemaOf.AnyOf) {
		if found := s.schemaAt(alternative, raw); found != nil {
			return found
		}
	}
	if raw[0] == '{' && len(schemaOf.Properties) > 0 || raw[0] == '[' && schemaOf.Items != nil {
		return schemaOf
	}
	return nil
}

// ChangesNothing reports whether fields were sent, and all of them are nulls or unknown fields
// that the call ignores. It is false for an empty body.
func (c *Call) ChangesNothing() bool {
	return c.idle && !slices.ContainsFunc(slices.Collect(maps.Keys(c.Sent)), isContent)
}

// isContent reports whether a field belongs to the record and does not name its scope.
func isContent(name string) bool { return !slices.Contains(scopeFields, name) }
