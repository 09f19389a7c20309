package jsonschema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect/jsonschema"
)

func TestCheckedRefs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, input, want string }{
		{"no reference", `{"type": "object"}`, `{"type": "object"}`},
		{"a good one stays", `{"properties":{"a":{"$ref":"#/$defs/a","description":"d"}},"$defs":{"a":{"type":"string"}}}`, `{"properties":{"a":{"$ref":"#/$defs/a","description":"d"}},"$defs":{"a":{"type":"string"}}}`},
		{"a circle stays", `{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"},"root":{"$ref":"#"}}}}}`, `{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"},"root":{"$ref":"#"}}}}}`},
		{"one to nothing goes", `{"properties":{"a":{"$ref":"#/$defs/none"},"b":{"$ref":"#/components/schemas/B","type":"object"},"c":{"items":{"anyOf":[{"$ref":"https://x/y"},{"$ref":"#c"}]}}}}`,
			`{"properties":{"a":{},"b":{"type":"object"},"c":{"items":{"anyOf":[{},{}]}}}}`},
		{"one within definitions goes", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/none"}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{}}}`},
		{"one into a list stays", `{"properties":{"a":{"anyOf":[{"type":"string"}]},"b":{"$ref":"#/properties/a/anyOf/0"},"c":{"$ref":"#/properties/a/anyOf/1"}}}`, `{"properties":{"a":{"anyOf":[{"type":"string"}]},"b":{"$ref":"#/properties/a/anyOf/0"},"c":{}}}`},
		{"names and anchors stay", `{"a":{"$id":"x","$anchor":"y"},"b":{"$ref":"x"},"c":{"$ref":"#y"}}`, `{"a":{"$id":"x","$anchor":"y"},"b":{"$ref":"x"},"c":{"$ref":"#y"}}`},
		{"others beside it", `{"properties":{"a":{"$ref":"#/$defs/a","title":"A","type":"string"},"b":{"anyOf":[{}],"$ref":"#/$defs/a"}},"$defs":{"a":{}}}`, `{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/a"}],"title":"A","type":"string"},"b":{"anyOf":[{}],"oneOf":[{"$ref":"#/$defs/a"}]}},"$defs":{"a":{}}}`},
		{"a property of that name", `{"properties":{"$ref":{"type":"string"}},"default":{"$ref":"#/x"},"enum":[{"$ref":"#/x"}]}`, `{"properties":{"$ref":{"type":"string"}},"default":{"$ref":"#/x"},"enum":[{"$ref":"#/x"}]}`},
	} {
		if got := string(jsonschema.CheckedRefs([]byte(c.input))); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	deep := strings.Repeat(`{"items":`, 200) + `{"$ref":"#/none"}` + strings.Repeat(`}`, 200)
	if got := jsonschema.CheckedRefs([]byte(deep)); !json.Valid(got) {
		t.Errorf("%s", got)
	}
}
