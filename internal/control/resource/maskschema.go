package resource

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/kernel/sealed"
)

// masker replaces the secrets of a body before the audit trail stores it. It masks fields with
// the name of a secret and every field that the schema of the body does not have, because a
// mistyped name ("vault_tokn", "pasword") may hold a secret too.
type masker struct {
	registry huma.Registry
	// known reports whether a provider, a config or a check has a field of that name. It applies
	// to objects that accept any field. If it is nil, no field is known.
	known func(name string) bool
}

// anything is the schema of a value below a field that accepts any JSON.
var anything = &huma.Schema{AdditionalProperties: true}

// userNamed are the fields of JSON schemas below which users choose the names.
var userNamed = map[string]bool{"properties": true, "$defs": true, "definitions": true}

// object masks the members of an object. List is as in SecretField; parent is the name of the
// field that contains the object.
func (m *masker) object(s *huma.Schema, parent, list string, fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for name, v := range fields {
		field := m.member(s, parent, name)
		if field == nil {
			out[sealed.Name(name)] = blank(v)
			continue
		}
		member := name
		if _, object := v.(map[string]any); object && parent == prices {
			member = "" // "request_token" is a price there
		}
		out[sealed.Name(name)] = m.value(field, member, list, v)
	}
	return out
}

// member returns the schema of a member, nil if the member is unknown.
func (m *masker) member(s *huma.Schema, parent, name string) *huma.Schema {
	s = m.resolve(s)
	if s == nil {
		return nil
	}
	if field, ok := s.Properties[name]; ok {
		return field
	}
	for _, alternatives := range [][]*huma.Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for _, alternative := range alternatives {
			if field := m.member(alternative, parent, name); field != nil {
				return field
			}
		}
	}
	if rest, ok := s.AdditionalProperties.(*huma.Schema); ok && !m.isOpen(m.resolve(rest)) {
		return rest // users choose the names: tags
	}
	if m.isOpen(s) && (userNamed[parent] || m.known != nil && m.known(name)) {
		return anything
	}
	return nil
}

func (m *masker) resolve(s *huma.Schema) *huma.Schema {
	for s != nil && s.Ref != "" {
		s = m.registry.SchemaFromRef(s.Ref)
	}
	return s
}

// isOpen reports whether a schema accepts any field.
func (m *masker) isOpen(s *huma.Schema) bool {
	if rest, ok := s.AdditionalProperties.(*huma.Schema); ok {
		return m.isOpen(m.resolve(rest))
	}
	return s.AdditionalProperties == true || s.Type == "" && len(s.Properties)+len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) == 0
}

// value masks a value of a known field. An object or list instead of a text is masked as
// unknown. So is a text instead of an object, unless it is the JSON of an object.
func (m *masker) value(s *huma.Schema, name, list string, v any) any {
	s = m.resolve(s)
	if s == nil {
		return blank(v)
	}
	secret := SecretField(name, list)
	switch v := v.(type) {
	case string:
		if v != "" && secret {
			return sealed.Mask
		}
		if WebhookField(name) {
			return sealed.Webhook(v)
		}
		return m.text(s, v)
	case float64, json.Number:
		if SecretNumber(name) {
			return sealed.Mask
		}
	case map[string]any:
		if secret {
			return sealed.Mask
		}
		return m.object(s, name, list, v)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = m.element(s, name, list, secret, element)
		}
		return out
	}
	return v
}

// element masks an element of the list in a field.
func (m *masker) element(s *huma.Schema, name, list string, secret bool, v any) any {
	field := s.Items
	for _, alternative := range append(append([]*huma.Schema{}, s.OneOf...), s.AnyOf...) {
		if a := m.resolve(alternative); field == nil && a != nil {
			field = a.Items
		}
	}
	if field == nil && m.isOpen(s) {
		field = anything
	}
	if object, ok := v.(map[string]any); ok && !secret && field != nil {
		return m.object(field, "", name, object)
	}
	if field == nil {
		return blank(v)
	}
	return m.value(field, name, list, v)
}

// text masks secrets inside a text: members of JSON, and credentials in a URL.
func (m *masker) text(s *huma.Schema, text string) any {
	inner := strings.TrimSpace(text)
	takesObject := s.Type == huma.TypeObject || len(s.OneOf) > 0 && s.OneOf[0].Type == huma.TypeObject // the JSON text of an object
	if !strings.HasPrefix(inner, "{") && !strings.HasPrefix(inner, "[") {
		if takesObject && text != "" {
			return sealed.Mask
		}
		return sealed.Address(text)
	}
	if wellFormed([]byte(inner)) != nil {
		if takesObject || namesSecret(inner) {
			return sealed.Mask
		}
		return text
	}
	var v any
	d := json.NewDecoder(strings.NewReader(inner))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return sealed.Mask // unexpected, because the text is well-formed
	}
	before := encoded(v)
	field := s
	if !takesObject {
		field = anything
	}
	after := encoded(m.value(field, "", "", v))
	if bytes.Equal(before, after) {
		return text
	}
	return string(after)
}

// blank replaces the value of an unknown field; null and "" are returned unchanged.
func blank(v any) any {
	if v == nil || v == "" {
		return v
	}
	return sealed.Mask
}
