package tokens

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// functions is how OpenAI's models read the functions of a call: not as JSON, but as
// declarations. All numbers are tokens.
// Source: https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken, section
// 7, read 2026-11.
type functions struct {
	each     int64 // each function
	props    int64 // a function with properties
	prop     int64 // each property
	enum     int64 // a property with an enum
	enumItem int64
	end      int64 // the end of all functions
}

var (
	functions4o = &functions{each: 7, props: 3, prop: 3, enum: -3, enumItem: 3, end: 12}
	functions4  = &functions{each: 10, props: 3, prop: 3, enum: -3, enumItem: 3, end: 12}
)

func (f *functions) count(e *estimate, t *llm.Tool) int64 {
	n := f.each + e.read(t.Name+":"+strings.TrimSuffix(t.Description, "."))
	return n + f.properties(e, t.Schema, 0)
}

// nestedMax is the maximum depth of nested properties.
const nestedMax = 8

func (f *functions) properties(e *estimate, schema []byte, depth int) int64 {
	var n int64
	for name, p := range jsonedit.Members(last(schema, "properties")) {
		if n == 0 {
			n = f.props
		}
		n += f.property(e, name, p, depth)
	}
	return n
}

func (f *functions) property(e *estimate, rawName, p []byte, depth int) int64 {
	name, _ := jsonedit.Unquote(rawName)
	m := lastMembers(p, "type", "description", "enum", "items")
	n := f.prop + e.read(name+":"+text(m[0])+":"+strings.TrimSuffix(text(m[1]), "."))
	if m[2] != nil {
		n += f.enum
	}
	for item := range jsonedit.Elements(m[2]) {
		text, ok := jsonedit.Unquote(item)
		if !ok {
			text = string(item)
		}
		n += f.enumItem + e.read(text)
	}
	if depth < nestedMax {
		n += f.properties(e, p, depth+1)
		if m[3] != nil {
			n += f.properties(e, m[3], depth+1)
		}
	}
	return n
}
