package resource

import (
	"bytes"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/kernel/fault"
)

// SnakeName returns a name in snake case: "api_version" for "apiVersion". A name that begins
// with a capital is returned unchanged.
func SnakeName(name string) string {
	if name == "" || isUpper(name[0]) || strings.ToLower(name) == name {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		if isUpper(name[i]) && !isUpper(name[i-1]) && name[i-1] != '_' {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(b.String())
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// twinOf returns the known name that differs from name only in snake case or camel case. It
// returns "" if there is none or name itself is known.
func twinOf(name string, known []string) string {
	if slices.Contains(known, name) {
		return ""
	}
	snake := SnakeName(name)
	for _, k := range known {
		if SnakeName(k) == snake {
			return k
		}
	}
	return ""
}

// renameCaseVariants renames fields of the body that are case variants of known fields. It runs
// before the workspace of the call is looked up, because the workspace field may be among them.
func (c *Call) renameCaseVariants(s *schema) error {
	if s == nil || s.open() {
		return nil
	}
	if c.Sent != nil {
		return s.renameCaseVariants(c.Sent, func(name string) string { return name })
	}
	for i, item := range c.Items {
		if err := s.renameCaseVariants(item, func(name string) string { return c.ItemField(i, name) }); err != nil {
			return err
		}
	}
	return nil
}

// renameCaseVariants does the same in an object of the body and in its nested objects.
func (s *schema) renameCaseVariants(sent Sent, path func(string) string) error {
	known := append(slices.Sorted(maps.Keys(s.root.Properties)), scopeFields...)
	if err := renameCaseVariants(sent, known, path); err != nil {
		return err
	}
	for name, raw := range sent {
		inner, err := s.objects(s.root.Properties[name], raw, path(name), func(field *huma.Schema, object Sent, path string) error {
			return renameCaseVariants(object, slices.Sorted(maps.Keys(field.Properties)), func(name string) string { return path + "." + name })
		})
		if err != nil {
			return err
		}
		sent[name] = inner
	}
	return nil
}

func renameCaseVariants(sent Sent, known []string, path func(string) string) error {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		twin := twinOf(name, known)
		if twin == "" {
			continue
		}
		if v, both := sent[twin]; both && !bytes.Equal(v, sent[name]) {
			return fault.Newf(fault.InvalidRequest, "was also sent as %s with a different value", twin).WithParam(path(name))
		}
		sent[twin] = sent[name]
		delete(sent, name)
	}
	return nil
}

// renameParameters does the same for the query parameters.
func (in *incomingRequest) renameParameters(values url.Values) error {
	known := make([]string, 0, len(in.op.Query))
	for _, p := range in.op.Query {
		known = append(known, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		twin := twinOf(name, known)
		if twin == "" {
			continue
		}
		if values.Has(twin) && !slices.Equal(values[twin], values[name]) {
			return fault.Newf(fault.InvalidParameter, "was also sent as %s with a different value", twin).WithParam(name)
		}
		values[twin] = values[name]
		delete(values, name)
	}
	return nil
}

// wrongCaseFields lists the fields within a body value that the schema has in other capitals.
// The validation library accepts "Role" for "role", and so do decoders. If a body contains both
// spellings, one would be validated and the other one used.
func (s *schema) wrongCaseFields(object *huma.Schema, v any, path string) (problems []Problem) {
	for object != nil && object.Ref != "" {
		object = s.registry.SchemaFromRef(object.Ref)
	}
	if object == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			fieldPath := path + "." + name
			field, known := object.Properties[name]
			switch {
			case known:
				problems = append(problems, s.wrongCaseFields(field, inner, fieldPath)...)
			case inOtherCapitals(object, name):
				problems = append(problems, Problem{fieldPath, unknownField})
			default:
				rest, _ := object.AdditionalProperties.(*huma.Schema)
				problems = append(problems, s.wrongCaseFields(rest, inner, fieldPath)...)
			}
		}
	case []any:
		for i, inner := range v {
			problems = append(problems, s.wrongCaseFields(object.Items, inner, path+"["+strconv.Itoa(i)+"]")...)
		}
	}
	return problems
}

func inOtherCapitals(object *huma.Schema, name string) bool {
	for known := range object.Properties {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}
