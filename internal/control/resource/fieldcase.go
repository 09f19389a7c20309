package resource

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

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
