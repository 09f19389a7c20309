package apidoc

import (
	"maps"
	"slices"
	"strings"
)

// tidySchemas changes what the types cannot state about their schemas, at every depth.
func tidySchemas(v any) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			tidySchemas(inner)
		}
	case object:
		allowNull(v)
		if properties, ok := v["properties"].(object); ok {
			dropSecondSpellings(properties)
		}
		for name, inner := range v {
			if name != "example" {
				tidySchemas(inner)
			}
		}
	}
}

const schemaPrefix = "#/components/schemas/"

// dropUnused removes the schemas to which nothing refers, until each that is left is in use.
func dropUnused(root object) {
	schemas := root["components"].(object)["schemas"].(object)
	for {
		used := make(map[string]bool)
		findRefs(root, used)
		before := len(schemas)
		maps.DeleteFunc(schemas, func(name string, _ any) bool { return !used[schemaPrefix+name] })
		if len(schemas) == before {
			return
		}
	}
}

// findRefs adds every reference of a value to used.
func findRefs(v any, used map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			findRefs(inner, used)
		}
	case object:
		if ref, ok := v["$ref"].(string); ok {
			used[ref] = true
		}
		for _, inner := range v {
			findRefs(inner, used)
		}
	}
}

// allowNull adds null to the values of an enumeration that may be null: JSON Schema
// rejects null otherwise, even if the type allows it. Generators do not support null among integers,
// so an enumeration of 0 and 1 becomes a range.
func allowNull(schema object) {
	types, _ := schema["type"].([]any)
	values, enumerated := schema["enum"].([]any)
	if !enumerated || !slices.Contains(types, any("null")) || slices.Contains(values, nil) {
		return
	}
	if !slices.Contains(types, any("integer")) {
		schema["enum"] = append(values, nil)
		return
	}
	delete(schema, "enum")
	schema["minimum"], schema["maximum"] = values[0], values[len(values)-1]
}

// dropSecondSpellings leaves one spelling of each field: where "response_time" and
// "responseTime" are both accepted, the one that has a description is described.
func dropSecondSpellings(properties object) {
	for name := range properties {
		snake := snakeCase(name)
		if snake == name || properties[snake] == nil {
			continue
		}
		if hasDescription(properties[name]) {
			delete(properties, snake)
		} else {
			delete(properties, name)
		}
	}
}

func hasDescription(schema any) bool {
	o, _ := schema.(object)
	return o["description"] != nil
}

// snakeCase turns "responseTime" into "response_time".
func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
