package openai

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
)

// ShapeForm is Shape for multipart requests. A string becomes the field's text, and a number
// or boolean its JSON. Each element of an array becomes a separate field, named name[] where
// the form has such fields or none. null omits the field. Drops name complete fields. Of the
// provider's rules, Default, Drop, Swap and ModelPrefix apply.
func ShapeForm(_ llm.Endpoint, f *multipartedit.Form, s dialect.Shaping) []multipartedit.Edit {
	var edits []multipartedit.Edit
	for _, p := range s.Default {
		name, values := field(f, p)
		edits = append(edits, multipartedit.SetDefault(name, values...))
	}
	for _, p := range s.Override {
		name, values := field(f, p)
		edits = append(edits, multipartedit.Set(name, values...))
	}
	for _, path := range s.Drop {
		edits = append(edits, multipartedit.Drop(path))
	}
	return append(edits, providerFields(f, s)...)
}

func providerFields(f *multipartedit.Form, s dialect.Shaping) []multipartedit.Edit {
	var edits []multipartedit.Edit
	rules := s.Rules
	if rules == nil {
		rules = &noRules
	}
	name := s.Model
	if name == "" && rules.ModelPrefix != "" {
		name, _ = f.Value("model")
	}
	if short := strings.TrimPrefix(name, rules.ModelPrefix); s.Model != "" || short != name {
		edits = append(edits, multipartedit.Set("model", short))
	}
	for _, p := range rules.Default {
		key, values := field(f, p)
		edits = append(edits, multipartedit.SetDefault(key, values...))
	}
	for _, path := range rules.Drop {
		edits = append(edits, multipartedit.Drop(path))
	}
	for _, sw := range rules.Swap {
		if text, ok := f.Value(sw.Path); ok {
			if to, ok := sw.Values[string(jsonedit.Quote(text))]; ok {
				edits = append(edits, multipartedit.Set(sw.Path, fieldText([]byte(to))))
			}
		}
	}
	return edits
}

// field converts a JSON value into the values of form fields.
func field(f *multipartedit.Form, p dialect.Param) (name string, values []string) {
	raw := []byte(p.Raw)
	if len(raw) == 0 || string(raw) == "null" {
		return p.Key, nil
	}
	if raw[0] != '[' {
		return p.Key, []string{fieldText(raw)}
	}
	for e := range jsonedit.Elements(raw) {
		values = append(values, fieldText(e))
	}
	name = p.Key
	if !strings.HasSuffix(name, "[]") && f.Part(name) == nil {
		name += "[]"
	}
	return name, values
}

func fieldText(raw []byte) string {
	if s, ok := jsonedit.Unquote(raw); ok {
		return s
	}
	return string(raw)
}
