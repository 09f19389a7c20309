package check_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

const person = `{"schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}}}`

func TestJSONSchema_ValidatesTheBestValue(t *testing.T) {
	t.Parallel()
	runCases(t, "default.jsonSchema", []verdictCase{
		{"the complete text", person + `}`, []string{`{"name":"Ann","age":3}`}, true, "", `{"matchedJson":{"name":"Ann","age":3},"not":false}`},
		{"a fenced block", person + `}`, []string{"Here: {\"x\":1}\n```json\n{\"name\":\"Ann\"}\n```\n"}, true, "", `{"matchedJson":{"name":"Ann"}}`},
		{"a fenced block on one line", person + `}`, []string{"```json {\"name\":\"Ann\"}```"}, true, "", ""},
		{"an object between other text", person + `}`, []string{`It's {not this} but {"name":"Ann"}.`}, true, "", ""},
		{"one of several is valid", person + `}`, []string{`{"age":1} and {"name":"Ann"}`}, true, "", `{"matchedJson":{"name":"Ann"}}`},
		{"an invalid value", person + `}`, []string{`{"age":-1}`}, false, "", `{"matchedJson":{"age":-1}}`},
		{"an invalid value with not", person + `,"not":true}`, []string{`{"age":-1}`}, true, "", ""},
		{"a valid value with not", person + `,"not":true}`, []string{`{"name":"Ann"}`}, false, "", ""},
		{"no JSON", person + `}`, []string{`Ann, 3 years`}, false, "", `{"matchedJson":null,"explanation":"the text contains no JSON value"}`},
		{"no JSON with not", person + `,"not":true}`, []string{`Ann`}, false, "", ""},
		{"a rule of draft 2020-12", `{"schema":{"prefixItems":[{"type":"string"}],"items":false}}`, []string{`["a",1]`}, false, "", ""},
		{"a large integer", `{"schema":{"type":"integer","const":12345678901234567890}}`, []string{`12345678901234567891`}, false, "", ""},
		{"an earlier draft", `{"schema":{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}}`, []string{`["a"]`}, true, "", ""},
	})
	runRefusals(t, "default.jsonSchema", refusals{
		`{}`:                           ".schema: required",
		`{"schema":{"type":"objekt"}}`: ".schema: a valid JSON Schema",
		`{"schema":{"$ref":"file:///etc/passwd"}}`:                              ".schema: without external references",
		`{"schema":{"$ref":"#/x","x":{"dependentSchemas":{"a":{"$ref":"#"}}}}}`: ".schema: must not combine dependentSchemas",
	})
}

// Schemas whose evaluation grows without bound, and texts made to delay the search for JSON, end
// within a moment.
func TestJSONSchema_EndsOnBombs(t *testing.T) {
	t.Parallel()
	const doubled = `{"$defs":{"s":%s},"$ref":"#/$defs/s"}`
	var chain strings.Builder
	for i := range 40 {
		fmt.Fprintf(&chain, `"s%d":{"allOf":[{"$ref":"#/$defs/s%d"},{"$ref":"#/$defs/s%d"}]},`, i, i+1, i+1)
	}
	deep := strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
	for name, c := range map[string]struct{ schema, text, failure string }{
		"a chain of doubled references": {`{"$defs":{` + chain.String() + `"s40":{"type":"object"}},"$ref":"#/$defs/s0"}`, "{}", "the evaluation of the schema"},
		"doubled recursion":             {fmt.Sprintf(doubled, `{"properties":{"a":{"allOf":[{"$ref":"#/$defs/s"},{"$ref":"#/$defs/s"}]}}}`), deep, "the evaluation of the schema"},
		"doubled recursion that fails":  {fmt.Sprintf(doubled, `{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"patternProperties":{"a":{"$ref":"#/$defs/s"},"^a":{"$ref":"#/$defs/s"}}}`), deep, "the evaluation of the schema"},
		"doubled recursion below not":   {`{"not":` + `{"properties":{"a":{"$ref":"#/not"}},"patternProperties":{"a":{"$ref":"#/not"},"^a":{"$ref":"#/not"}},"type":"object"}` + `}`, deep, "the evaluation of the schema"},
		"references in a circle":        {`{"$defs":{"s":{"$ref":"#/$defs/s"}},"$ref":"#/$defs/s"}`, "{}", ""},
		"open brackets":                 {`{"type":"object","required":["z"]}`, strings.Repeat(`{"a":`, 400_000), ""},
		"open lists":                    {`{"type":"object","required":["z"]}`, strings.Repeat(`[`, 3_000_000), ""},
		"deep nesting":                  {`{"type":"object","required":["z"]}`, strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000), ""},
		"many fences":                   {`{"type":"object","required":["z"]}`, strings.Repeat("```\n", 300_000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := open(t, "default.jsonSchema", `{"schema":`+c.schema+`}`, nil).Run(context.Background(), &check.Input{Phase: guardrail.Output, Texts: []string{c.text}})
			compare(t, &got, false, c.failure, "")
		})
	}
}

func TestJSONSchema_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	list := "[" + strings.Repeat("1,", 5000) + "1]"
	got := open(t, "default.jsonSchema", `{"schema":{"items":{"type":"integer"}}}`, nil).Run(ctx, &check.Input{Texts: []string{list}})
	compare(t, &got, false, "did not end in time", "")
}

func TestJSONKeys_CombinesByOperator(t *testing.T) {
	t.Parallel()
	runCases(t, "default.jsonKeys", []verdictCase{
		{"any finds one", `{"keys":["a","b"],"operator":"any"}`, []string{`x {"b":1} y`}, true, "", `{"presentKeys":["b"],"missingKeys":["a"]}`},
		{"all in one object", `{"keys":["a","b"],"operator":"all"}`, []string{"```json\n{\"a\":1,\"b\":null}\n```"}, true, "", ""},
		{"all in two objects", `{"keys":["a","b"],"operator":"all"}`, []string{`{"a":1} {"b":1}`}, false, "", ""},
		{"a second object passes", `{"keys":["a"],"operator":"any"}`, []string{`{"b":1} {"a":1}`}, true, "", `{"matchedJson":{"a":1}}`},
		{"none finds none", `{"keys":["a"],"operator":"none"}`, []string{`{"b":{"a":1}}`}, true, "", ""},
		{"none finds one", `{"keys":["a"],"operator":"none"}`, []string{`{"a":1}`}, false, "", ""},
		{"no JSON", `{"keys":["a"],"operator":"none"}`, []string{`a list: [1]`}, false, "", `{"explanation":"the text contains no JSON object"}`},
	})
	runRefusals(t, "default.jsonKeys", refusals{`{"operator":"any"}`: ".keys: required", `{"keys":["a"],"operator":"one"}`: ".operator: one of any"})
}

func TestContainsCode_FindsTaggedBlocks(t *testing.T) {
	t.Parallel()
	runCases(t, "default.containsCode", []verdictCase{
		{"the language", `{"format":"Python"}`, []string{"Look:\n```python\nprint(1)\n```"}, true, "", `{"foundFormats":["python"],"searchedFormat":"Python"}`},
		{"an alias", `{"format":"TypeScript"}`, []string{"```ts\nlet a\n```"}, true, "", ""},
		{"a tag in capitals with attributes", `{"format":"SQL"}`, []string{"~~~~SQL {.numbered}\nselect 1\n~~~~"}, true, "", ""},
		{"the second block", `{"format":"C++"}`, []string{"```c\nint a;\n```\ntext\n```cpp\nint a;\n```"}, true, "", `{"foundFormats":["c","cpp"]}`},
		{"a block in another language", `{"format":"C"}`, []string{"```c#\nint a;\n```"}, false, "", ""},
		{"a block without tag", `{"format":"C"}`, []string{"```\nint a;\n```"}, false, "", ""},
		{"a block that does not end", `{"format":"Go"}`, []string{"```go\npackage a"}, true, "", ""},
		{"the language with not", `{"format":"Go","not":true}`, []string{"```go\npackage a\n```"}, false, "", ""},
		{"no block", `{"format":"Go"}`, []string{"go is a language"}, false, "", ""},
		{"no block with not", `{"format":"Go","not":true}`, []string{"go is a language"}, true, "", ""},
	})
	runRefusals(t, "default.containsCode", refusals{`{"format":"COBOL"}`: ".format: one of SQL", `{}`: ".format: required"})
}

func TestNotNull_IgnoresWhiteSpace(t *testing.T) {
	t.Parallel()
	runCases(t, "default.notNull", []verdictCase{
		{"content", `{}`, []string{" ", "a"}, true, "", ""},
		{"invisible signs", `{}`, []string{" \u200b\u00ad\ufe0f\u3164"}, false, "", ""},
		{"an emoji", `{}`, []string{"\u2764\ufe0f"}, true, "", ""},
		{"white space", `{}`, []string{" \n"}, false, "", `{"explanation":"the content is empty"}`},
		{"no text", `{}`, nil, false, "", ""},
		{"no text with not", `{"not":true}`, nil, true, "", ""},
	})
	runRefusals(t, "default.notNull", refusals{`{"nott":true}`: ".nott: unknown parameter"})
	got := open(t, "default.notNull", `{}`, nil).Run(context.Background(), &check.Input{Phase: guardrail.Output, ToolCalls: true})
	compare(t, &got, true, "", "")
}
