package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/dialect/jsonschema"
)

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, input, want string }{
		{"what is refused goes", `{"$schema":"s","type":"object","properties":{"strict":{"type":"string","additionalProperties":false},"$schema":{"type":"number"}},"required":["strict"],"additional_properties":{}}`,
			`{"type":"object","properties":{"strict":{"type":"string"},"$schema":{"type":"number"}},"required":["strict"]}`},
		{"references are put in place", `{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"type":"array","items":{"$ref":"#/definitions/b"}}},"$defs":{"a":{"type":"string","additionalProperties":true}},"definitions":{"b":{"$ref":"#/$defs/a"}}}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"string"}}}}`},
		{"a circle ends", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`,
			`{"type":"object","properties":{"next":{"type":"string"}}}`},
		{"a reference to nothing", `{"properties":{"a":{"$ref":"#/$defs/none","description":"d"},"b":{"$ref":"https://x/y","type":"integer"}}}`, `{"properties":{"a":{"type":"string","description":"d"},"b":{"type":"integer"}}}`},
		{"what these models refuse", `{"type":"object","propertyNames":{"pattern":"^a"},"properties":{"n":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":9,"minimum":1},"propertyNames":{"type":"string"}},"patternProperties":{"x":{}},"if":{},"then":{}}`,
			`{"type":"object","properties":{"n":{"type":"integer","minimum":1},"propertyNames":{"type":"string"}}}`},
		{"null and one other", `{"anyOf":[{"type":"string","description":"d"},{"type":"null"}],"title":"t"}`, `{"type":"string","description":"d","nullable":true,"title":"t"}`},
		{"null and a reference", `{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}},"$defs":{"a":{"type":"integer"}}}`, `{"properties":{"a":{"type":"integer","nullable":true}}}`},
		{"what stands beside a reference wins", `{"properties":{"a":{"$ref":"#/$defs/a","description":"where it goes","default":"x"},"b":{"description":"first","$ref":"#/$defs/b"}},"$defs":{"a":{"title":"A","type":"string","description":"any"},"b":{"$ref":"#/$defs/a"}}}`,
			`{"properties":{"a":{"title":"A","type":"string","description":"where it goes","default":"x"},"b":{"title":"A","type":"string","description":"first"}}}`},
		{"what stands beside null and one other wins", `{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"title":"T","description":"where it goes"}},"$defs":{"a":{"title":"A","anyOf":[{"type":"string"},{"type":"number"}],"description":"any"}}}`,
			`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}],"nullable":true,"title":"T","description":"where it goes"}}}`},
		{"references with escapes", `{"properties":{"a":{"$ref":"#/$defs/a~1b~0c%20d"}},"$defs":{"a/b~c d":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}}}`},
		{"a reference to anything", `{"properties":{"a":{"$ref":"#/$defs/a","description":"d"}},"$defs":{"a":true}}`, `{"properties":{"a":true}}`},
		{"null and several", `{"oneOf":[{"type":"string"},{"type":"null"},{"type":"number","$schema":"x"}]}`, `{"anyOf":[{"type":"string"},{"type":"number"}],"nullable":true}`},
		{"no null", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `{"anyOf":[{"type":"string"},{"type":"number"}]}`},
		{"types", `{"type":["string","null"]}`, `{"type":"string","nullable":true}`},
		{"many types", `{"type":["string","number"]}`, `{"anyOf":[{"type":"string"},{"type":"number"}]}`},
		{"constants", `{"const":"x"}`, `{"enum":["x"]}`},
		{"lists", `{"allOf":[{"$schema":"x","type":"string"}],"prefixItems":[{"strict":true}]}`, `{"allOf":[{"type":"string"}],"prefixItems":[{}]}`},
		{"no schema", `true`, `true`},
	} {
		if got := string(openAPI([]byte(c.input))); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// References that double at each step would fill the memory.
func TestOpenAPIIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range 60 {
		b.WriteString(`"a` + string(rune('0'+i%10)) + strings.Repeat("x", i/10) + `":{"allOf":[`)
		next := `{"$ref":"#/$defs/a` + string(rune('0'+(i+1)%10)) + strings.Repeat("x", (i+1)/10) + `"}`
		b.WriteString(next + `,` + next + `]},`)
	}
	b.WriteString(`"z":{}}}`)
	if got := len(openAPI([]byte(b.String()))); got > 4*jsonschema.MaxBytes {
		t.Errorf("%d bytes of %d", got, b.Len())
	}
}

// Nor may references take long: where each was looked for from the front, or read a large
// schema again, these took minutes.
func TestManyReferencesAreNoWork(t *testing.T) {
	t.Parallel()
	const n = 20_000
	many := func(one string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, one+",", i, i+1)
		}
		return b.String()
	}
	for name, schema := range map[string]string{
		"of many schemas":   `{"properties":{` + many(`"p%d":{"$ref":"#/$defs/a%d"}`) + `"z":{}},"$defs":{` + many(`"a%d":{"maxLength":%d}`) + `"z":{}}}`,
		"to a large schema": `{"properties":{` + many(`"p%d":{"$ref":"#/$defs/a","title":"%d"}`) + `"z":{}},"$defs":{"a":{"$defs":{` + many(`"a%d":{"maxLength":%d}`) + `"z":{}}}}}`,
		"each to the next":  `{"$ref":"#/$defs/a0","$defs":{` + many(`"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"type":"null"}]}`) + `"z":{}}}`,
	} {
		if got := openAPI([]byte(schema)); !json.Valid(got) || len(got) > 2*jsonschema.MaxBytes {
			t.Errorf("%s: %d bytes of %d", name, len(got), len(schema))
		}
	}
}

func FuzzOpenAPI(f *testing.F) {
	f.Add(`{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":{"type":["a","b","null"]}}}`)
	f.Add(`{"$ref":"#/"}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		if got := openAPI([]byte(schema)); !json.Valid(got) {
			t.Errorf("%s became %s", schema, got)
		}
	})
}
