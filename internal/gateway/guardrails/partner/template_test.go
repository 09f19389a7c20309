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
		`{"a":{"$":"body"},"s":{"$":"system"},"p":{"$":"prompt"}}`:              `{"a":{"n":1.0},"p":"a","s":"S"}`,
		`{"h":{"$":"history"}}`:                                                 `{"h":[{"content":"S","role":"system"},{"content":"a","role":"user"}]}`,
		`{"t":{"$":"text"},"all":{"$":"texts"},"phase":{"$":"phase"},"x":null}`: `{"all":["x","y"],"phase":"output","t":"x\ny","x":null}`,
	} {
		got, err := partner.Build([]byte(source), in, params)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", source, got, err, want)
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
