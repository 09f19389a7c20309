package partner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/partner"
)

func TestNoTextLeavesItsStringInABody(t *testing.T) {
	source := []byte(`{"a":{"$":"text"},"list":{"$each":"texts","do":{"t":{"$":"item"},"n":{"$":"index"}}},"inner":{"$json":{"p":{"$":"text"}}},"p":{"$":"param.name"}}`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if text == "" {
			t.Skip()
		}
		in := &check.Input{Phase: guardrail.Input, Texts: []string{text}}
		raw, err := partner.Build(source, in, map[string]any{"name": text})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			A, P, Inner string
			List        []struct {
				T string
				N int
			}
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		var inner struct{ P string }
		if err := json.Unmarshal([]byte(got.Inner), &inner); err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(text, "\ufffd")
		if got.A != want || got.P != want || len(got.List) != 1 || got.List[0].T != want || inner.P != want {
			t.Fatalf("body %s, want the text %q", raw, text)
		}
	})
}

func TestTemplates(t *testing.T) {
	in := &check.Input{Phase: guardrail.Output, Texts: []string{"x", "y"}, Model: "m", Metadata: map[string]string{"_user": "u"},
		Request: []byte(`{"system":"S","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}]}]}`), Body: []byte(`{"n":1.0}`)}
	params := map[string]any{"set": "v", "list": []any{"b", "c"}, "yes": true, "id": "17"}
	for source, want := range map[string]string{
		`{"a":{"$":"param.none"},"b":[{"$":"param.none"}]}`:                     `{"b":[]}`,
		`{"a":{"$":"param.none|metadata._user"}}`:                               `{"a":"u"}`,
		`{"a":{"$":"param.id","as":"number"}}`:                                  `{"a":17}`,
		`{"a":{"$":"param.set","as":"number"}}`:                                 `{"a":"v"}`,
		`{"$members":"param.list","value":true}`:                                `{"b":true,"c":true}`,
		`{"$phase":{"input":1,"output":2}}`:                                     `2`,
		`{"a":{"$phase":{"input":1}}}`:                                          `{}`,
		`{"$if":"param.no","then":1,"else":{"$":"model"}}`:                      `"m"`,
		`{"$if":"param.no|param.yes","then":1}`:                                 `1`,
		`{"$concat":[{"$":"param.list"},{"$":"param.none"},["d"]]}`:             `["b","c","d"]`,
		`{"s":{"$":"system"},"p":{"$":"prompt"}}`:                               `{"p":"a","s":"S"}`,
		`{"h":{"$":"history"}}`:                                                 `{"h":[{"content":"S","role":"system"},{"content":"a","role":"user"}]}`,
		`{"t":{"$":"text"},"all":{"$":"texts"},"phase":{"$":"phase"},"x":null}`: `{"all":["x","y"],"phase":"output","t":"x\ny","x":null}`,
	} {
		got, err := partner.Build([]byte(source), in, params)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", source, got, err, want)
		}
	}
}

func TestMessagesOfEachDialectHaveOneForm(t *testing.T) {
	const tools = `[{"description":"d","name":"f","parameters":{"type":"object"}}]`
	for request, want := range map[string]string{
		`{"messages":[{"role":"developer","content":"S"},{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","content":"r"}],
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]}`: `[["system","S"],["user","a"],["tool","r"]] a ` + tools,
		`{"system":[{"type":"text","text":"S"},{"type":"text","text":"T"}],"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"r"}]},{"type":"text","text":"a"}]}],
			"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}]}`: `[["system","S\nT"],["user","r\na"]] r\na ` + tools,
		`{"instructions":"S","input":[{"role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"function_call_output","output":"r"},"b"],
			"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"}}]}`: `[["system","S"],["user","a"],["tool","r"],["user","b"]] b ` + tools,
		`{"input":"a"}`:                                `[["user","a"]] a null`,
		`{"prompt":["a","b"]}`:                         `[["user","a\nb"]] a\nb null`,
		`{"input":["a","b"]}`:                          `[["user","a"],["user","b"]] b null`,
		`{"messages":"x","tools":1,"prompt":{"id":1}}`: `[] null null`,
		`[1]`: `[] null null`,
		`{"messages":[{"role":"assistant","content":"only"}]}`: `[["assistant","only"]] only null`,
	} {
		raw, err := partner.Build([]byte(`{"h":{"$each":"history","do":[{"$":"item.role"},{"$":"item.content"}]},"p":{"$":"prompt"},"t":{"$":"tools"}}`), &check.Input{Phase: guardrail.Input, Request: []byte(request)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			H json.RawMessage
			P *string
			T json.RawMessage
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		prompt := "null"
		if got.P != nil {
			prompt = strings.ReplaceAll(*got.P, "\n", `\n`)
		}
		if got.T == nil {
			got.T = json.RawMessage("null")
		}
		if line := string(got.H) + " " + prompt + " " + string(got.T); line != want {
			t.Errorf("%s:\n%s, want\n%s", request, line, want)
		}
	}
}

func TestToolCallsOfEachDialectHaveOneForm(t *testing.T) {
	for response, want := range map[string]string{
		`{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}`: `[{"arguments":{"a":1},"id":"1","name":"f"}]`,
		`{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"1","name":"f","input":{"a":1}}]}`:      `[{"arguments":{"a":1},"id":"1","name":"f"}]`,
		`{"output":[{"type":"function_call","call_id":"1","name":"f","arguments":"no json"}]}`:                  `[{"arguments":"no json","id":"1","name":"f"}]`,
		`{"output":[{"type":"function_call","call_id":"1","name":"f"}]}`:                                        `[{"arguments":{},"id":"1","name":"f"}]`,
		`{"choices":[],"content":"text"}`: ``,
		`"x"`:                             ``,
	} {
		raw, err := partner.Build([]byte(`{"$each":"toolDialogue","do":{"$":"item.tool_calls"}}`), &check.Input{Phase: guardrail.Output, Texts: []string{"x"}, Body: []byte(response)}, nil)
		if want != "" {
			want = "[" + want + "]"
		} else {
			want = "[]"
		}
		if err != nil || string(raw) != want {
			t.Errorf("%s: %s %v, want %s", response, raw, err, want)
		}
	}
}

func TestTemplatesWithUnknownNamesAreRefused(t *testing.T) {
	for _, source := range []string{`{"$":"secret"}`, `{"$":"param"}`, `{"$":"text.x"}`, `{"$each":"nothing","do":1}`, `{"$unknown":1}`, `{"$if":"x"}`, `{`} {
		if _, err := partner.Build([]byte(source), &check.Input{}, nil); err == nil {
			t.Errorf("%s: no error", source)
		}
	}
}

func TestPaths(t *testing.T) {
	doc := []byte(`{"a":{"b":[{"c":1},{"c":2},{"d":3}],"x.y":4},"n":{"a":5,"b":6,"C":7},"z":null}`)
	for path, want := range map[string]string{
		``:         `[` + string(doc) + `]`,
		`a.b[*].c`: `[1,2]`,
		`a.b[1].c`: `[2]`,
		`a.b[9].c`: `null`,
		`a["x.y"]`: `[4]`,
		`n.*`:      `[7,5,6]`,
		`n.$names`: `[7,5]`,
		`z`:        `[null]`,
		`a.b.c`:    `null`,
		`a[0]`:     `null`,
		`n.a.b.c`:  `null`,
	} {
		found, err := partner.FindPath(path, doc)
		got, _ := json.Marshal(found)
		if err != nil || canonical(t, got) != canonical(t, []byte(want)) {
			t.Errorf("%s: %s %v, want %s", path, got, err, want)
		}
	}
	for _, path := range []string{`a[`, `a[x]`, `[]`, `a..b`, `a[""x"]`} {
		if _, err := partner.FindPath(path, doc); err == nil {
			t.Errorf("path %q: no error", path)
		}
	}
}
