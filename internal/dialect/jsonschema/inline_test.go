package jsonschema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect/jsonschema"
)

func TestInPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, input, want string }{
		{"no references", `{"type":"object",  "$defs":{"a":{}}}`, `{"type":"object",  "$defs":{"a":{}}}`},
		{"in properties and lists", `{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"items":{"$ref":"#/definitions/b"}},"c":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}},"$defs":{"a":{"type":"string"}},"definitions":{"b":{"$ref":"#/$defs/a"}}}`,
			`{"properties":{"a":{"type":"string"},"b":{"items":{"type":"string"}},"c":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`},
		{"what stands beside wins", `{"properties":{"a":{"$ref":"#/$defs/b","description":"here"}},"$defs":{"a":{"type":"string","description":"any","title":"A"},"b":{"$ref":"#/$defs/a","title":"B"}}}`,
			`{"properties":{"a":{"type":"string","title":"B","description":"here"}}}`},
		{"a circle ends", `{"properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`,
			`{"properties":{"n":{"type":"object","properties":{"next":{}}}}}`},
		{"anything", `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":true}}`, `{"properties":{"a":true}}`},
		{"names of properties and values mean nothing", `{"properties":{"$ref":{"type":"string"},"$defs":{"enum":["$ref"]},"default":{"$ref":"#/$defs/a"}},"$defs":{"a":{"default":{"$ref":"x"}}}}`,
			`{"properties":{"$ref":{"type":"string"},"$defs":{"enum":["$ref"]},"default":{"default":{"$ref":"x"}}}}`},
		{"elsewhere", `{"properties":{"a":{"$ref":"https://example.com/a","type":"string"}}}`, `{"properties":{"a":{"type":"string"}}}`},
	} {
		if got := string(jsonschema.InlineRefs([]byte(c.input))); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// References that double at each step would fill the memory.
func TestInPlaceIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a","$defs":{`)
	for i := range 60 {
		next := `{"$ref":"#/$defs/a` + strings.Repeat("x", i+1) + `"}`
		b.WriteString(`"a` + strings.Repeat("x", i) + `":{"allOf":[` + next + "," + next + "]},")
	}
	b.WriteString(`"z":{}}}`)
	if got := jsonschema.InlineRefs([]byte(b.String())); len(got) > 4*jsonschema.MaxBytes || !json.Valid(got) {
		t.Errorf("%d bytes of %d", len(got), b.Len())
	}
}
