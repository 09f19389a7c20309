package jsonschema_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect/jsonschema"
)

func TestNarrowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, want, dropped string }{
		{"a closed object", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, ""},
		{"an open object", `{"type":"object","properties":{}}`, `{"type":"object","properties":{},"additionalProperties":false}`, ""},
		{"any members", `{"type":["object","null"],"additionalProperties":{"type":"string"}}`, `{"type":["object","null"],"description":"{additionalProperties: {\"type\":\"string\"}}","additionalProperties":false}`, "s.additionalProperties"},
		{"a range", `{"type":"integer","minimum":3,"description":"of a","maximum":9}`, `{"type":"integer","description":"of a\n\n{minimum: 3, maximum: 9}"}`, "s.minimum s.maximum"},
		{"below", `{"$defs":{"x":{"type":"string","minLength":1}},"anyOf":[{"$ref":"#/$defs/x"},{"type":"array","items":{"type":"number","multipleOf":2},"minItems":1}]}`,
			`{"$defs":{"x":{"type":"string","description":"{minLength: 1}"}},"anyOf":[{"$ref":"#/$defs/x"},{"type":"array","items":{"type":"number","description":"{multipleOf: 2}"},"minItems":1}]}`,
			"s.$defs.x.minLength s.anyOf[1].items.multipleOf"},
		{"a member of that name", `{"type":"object","properties":{"minimum":{"type":"string","format":"uuid"},"items":{"type":"string","format":"color"}}}`,
			`{"type":"object","properties":{"minimum":{"type":"string","format":"uuid"},"items":{"type":"string","description":"{format: \"color\"}"}},"additionalProperties":false}`, "s.properties.items.format"},
		{"one of", `{"oneOf":[{"type":"null"},{"type":"string"}]}`, `{"anyOf":[{"type":"null"},{"type":"string"}]}`, ""},
		{"both", `{"oneOf":[{"type":"null"}],"anyOf":[{"type":"null"}]}`, `{"anyOf":[{"type":"null"}],"description":"{oneOf: [{\"type\":\"null\"}]}"}`, "s.oneOf"},
		{"lists", `{"type":"array","minItems":2,"items":true,"$schema":"x"}`, `{"type":"array","items":true,"description":"{minItems: 2}"}`, "s.minItems"},
		{"values", `{"enum":[{"minimum":1}],"default":{"maximum":1}}`, `{"enum":[{"minimum":1}],"default":{"maximum":1}}`, ""},
		{"nothing", `{}`, `{}`, ""},
	} {
		var dropped []string
		got := jsonschema.Restrict([]byte(c.schema), "s", func(path string) { dropped = append(dropped, path) })
		if string(got) != c.want || strings.Join(dropped, " ") != c.dropped {
			t.Errorf("%s: %s, lost %q", c.name, got, dropped)
		}
		if again := jsonschema.Restrict(got, "s", func(path string) { t.Errorf("%s: loses %s again", c.name, path) }); !slices.Equal(again, got) {
			t.Errorf("%s: again %s", c.name, again)
		}
	}
}

func FuzzNarrowed(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"minimum":1}},"oneOf":[{}],"items":[1]}`)
	f.Add(strings.Repeat(`{"items":`, 100) + "{}" + strings.Repeat("}", 100))
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		if got := jsonschema.Restrict([]byte(schema), "s", func(string) {}); !json.Valid(got) {
			t.Errorf("%s became %s", schema, got)
		}
	})
}
