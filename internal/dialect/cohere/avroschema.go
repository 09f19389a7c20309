package cohere

// avroType is a compiled Avro schema.
type avroType struct {
	kind     string // "record", "array", "string", …; "union" for a list of types
	fields   []avroField
	items    *avroType // for arrays and maps
	branches []*avroType
	symbols  []string
	size     int64 // for fixed, in bytes
}

type avroField struct {
	name string
	typ  *avroType
}

// avroDepth is the maximum nesting depth of schemas and values.
const avroDepth = 32

var avroPlain = map[string]bool{
	"null": true, "boolean": true, "int": true, "long": true, "float": true, "double": true, "bytes": true, "string": true,
}

// compile converts a decoded schema to a type; nil when the schema is invalid. The map named contains
// the types that the schema has named so far, and compile adds to it.
func compile(schema any, named map[string]*avroType, depth int) *avroType {
	if depth > avroDepth {
		return nil
	}
	switch s := schema.(type) {
	case string:
		if avroPlain[s] {
			return &avroType{kind: s}
		}
		return named[s]
	case []any:
		t := &avroType{kind: "union"}
		for _, branch := range s {
			b := compile(branch, named, depth+1)
			if b == nil {
				return nil
			}
			t.branches = append(t.branches, b)
		}
		return t
	case map[string]any:
		return compileObject(s, named, depth)
	}
	return nil
}

func compileObject(s map[string]any, named map[string]*avroType, depth int) *avroType {
	kind, ok := s["type"].(string)
	if !ok {
		return compile(s["type"], named, depth+1)
	}
	t := &avroType{kind: kind}
	switch kind {
	case "array":
		t.items = compile(s["items"], named, depth+1)
	case "map":
		t.items = compile(s["values"], named, depth+1)
	case "record", "enum", "fixed":
		return compileNamed(t, s, named, depth)
	default:
		return compile(kind, named, depth+1)
	}
	if t.items == nil {
		return nil
	}
	return t
}

func compileNamed(t *avroType, s map[string]any, named map[string]*avroType, depth int) *avroType {
	name, _ := s["name"].(string)
	space, _ := s["namespace"].(string)
	named[name], named[space+"."+name] = t, t
	switch t.kind {
	case "fixed":
		size, _ := s["size"].(float64)
		t.size = int64(size)
		return t
	case "enum":
		list, _ := s["symbols"].([]any)
		for _, symbol := range list {
			text, _ := symbol.(string)
			t.symbols = append(t.symbols, text)
		}
		return t
	}
	list, _ := s["fields"].([]any)
	for _, f := range list {
		field, _ := f.(map[string]any)
		name, _ := field["name"].(string)
		typ := compile(field["type"], named, depth+1)
		if typ == nil {
			return nil
		}
		t.fields = append(t.fields, avroField{name, typ})
	}
	return t
}
