package resource

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// wrongCaseFields lists the fields within a value of a body that are known in other capitals.
// The validating library takes "Role" for "role", and so do decoders; but of a field that
// is there in both spellings one would be held against the schema and the other one used.
func (s *schema) wrongCaseFields(of *huma.Schema, v any, path string) (problems []Problem) {
	for of != nil && of.Ref != "" {
		of = s.registry.SchemaFromRef(of.Ref)
	}
	if of == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			at := path + "." + name
			field, known := of.Properties[name]
			switch {
			case known:
				problems = append(problems, s.wrongCaseFields(field, inner, at)...)
			case inOtherCapitals(of, name):
				problems = append(problems, Problem{at, unknownField})
			default:
				rest, _ := of.AdditionalProperties.(*huma.Schema)
				problems = append(problems, s.wrongCaseFields(rest, inner, at)...)
			}
		}
	case []any:
		for i, inner := range v {
			problems = append(problems, s.wrongCaseFields(of.Items, inner, path+"["+strconv.Itoa(i)+"]")...)
		}
	}
	return problems
}

func inOtherCapitals(of *huma.Schema, name string) bool {
	for known := range of.Properties {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}
