package passage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/passage"
)

// leafSet collects the strings of a JSON text by path. Arguments that are a JSON text are read too.
func leafSet(value any, path string, out map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		for k, item := range v {
			leafSet(item, path+"."+k, out)
		}
	case []any:
		for i, item := range v {
			leafSet(item, fmt.Sprintf("%s[%d]", path, i), out)
		}
	case string:
		var inner any
		if strings.HasSuffix(path, ".arguments") && strings.ContainsAny(v, `{["`) && json.Unmarshal([]byte(v), &inner) == nil {
			leafSet(inner, path, out)
			return
		}
		out[path] = v
	default:
		out[path] = v
	}
}

func leavesOf(t *rapid.T, body []byte) map[string]any {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	out := map[string]any{}
	leafSet(v, "", out)
	return out
}

// drawString draws a JSON string in one of its spellings.
func drawString(t *rapid.T) string {
	text := rapid.SampledFrom([]string{"", "a", "é\n", "😀 \"q\" \\", "a\u2028b", strings.Repeat("long ", 20), "</s>"}).Draw(t, "text")
	raw, _ := json.Marshal(text)
	if rapid.Bool().Draw(t, "escaped") {
		return string(raw)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.TrimSpace(b.String())
}

// drawTree draws a JSON value.
func drawTree(t *rapid.T, depth int) string {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0:
		return rapid.SampledFrom([]string{"1.0", "null", "true", "-0", "1e2"}).Draw(t, "scalar")
	case kind == 1 && depth < 4:
		return "{ \"k\":" + drawTree(t, depth+1) + ",\"l\" : " + drawTree(t, depth+1) + "}"
	case kind == 2 && depth < 4:
		return "[" + drawTree(t, depth+1) + " ," + drawTree(t, depth+1) + "]"
	}
	return drawString(t)
}

func drawMessage(t *rapid.T) string {
	arguments := "\t" + drawTree(t, 0)
	quoted, _ := json.Marshal(arguments)
	return `{"role":` + rapid.SampledFrom([]string{`"user"`, `"tool"`, `"assistant"`}).Draw(t, "role") +
		`,"content":[{"type":"text","text":` + drawString(t) + `},{"type":"tool_use","id":"t","input":` + drawTree(t, 0) + `}]` +
		`,"tool_calls":[{"id":"c","function":{"name":"f","arguments":` + string(quoted) + `}}]}`
}

func TestBytes_KeepsAllOtherLeaves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := make([]string, rapid.IntRange(1, 3).Draw(t, "messages"))
		for i := range messages {
			messages[i] = drawMessage(t)
		}
		body := []byte(`{"messages":[` + strings.Join(messages, ", ") + `],"n":1}`)
		b, err := passage.RequestShape("chatComplete", body)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		want := leavesOf(t, body)
		for i, p := range b.Passages() {
			if got, ok := want["."+p.Path]; !ok || got != p.Text {
				t.Fatalf("%s: passage %q, leaf %q", p.Path, p.Text, got)
			}
			if rapid.Bool().Draw(t, "replace") {
				text := rapid.SampledFrom([]string{"", "new", "\"\\\n\x00😀", "[EMAIL]"}).Draw(t, "new")
				// arguments that are only a string or a number are read again as another JSON text
				if p.Kind == passage.Arguments && strings.HasSuffix(p.Path, ".arguments") {
					text = "new"
				}
				b.Replace(i, text)
				want["."+p.Path] = text
			}
		}
		if got := leavesOf(t, b.Bytes()); !reflect.DeepEqual(got, want) {
			t.Fatalf("of %s\nmade %s\ngot  %v\nwant %v", body, b.Bytes(), got, want)
		}
	})
}

func TestReplace_EqualsReadingTheResult(t *testing.T) {
	t.Parallel()
	for _, c := range append(requestCases, textCase{"", "messages", `{"messages":[{"role":"user","content":[{"type":"text","text":"a","citations":[{"cited_text":"b"}]}]}]}`, nil}) {
		b, err := passage.RequestShape(c.shape, []byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, p := range b.Passages() {
			if !p.Signed {
				b.Replace(i, "new "+p.Path)
				want = append(want, p.Path)
			}
		}
		again, err := passage.RequestShape(c.shape, b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		var got []string
		for _, p := range again.Passages() {
			if !p.Signed {
				got = append(got, strings.TrimPrefix(p.Text, "new "))
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

func addSeeds(f *testing.F, cases []textCase) {
	f.Helper()
	for _, c := range cases {
		f.Add(c.shape, []byte(c.body))
	}
}

func FuzzRequestShape(f *testing.F) {
	addSeeds(f, requestCases)
	f.Fuzz(func(t *testing.T, shape string, body []byte) { checkBody(t, shape, body, passage.RequestShape) })
}

func FuzzResponseShape(f *testing.F) {
	addSeeds(f, responseCases)
	f.Fuzz(func(t *testing.T, shape string, body []byte) { checkBody(t, shape, body, passage.ResponseShape) })
}

// checkBody reads a body, replaces all its texts and checks that the result is valid.
func checkBody(t *testing.T, shape string, body []byte, read func(string, []byte) (*passage.Body, error)) {
	t.Helper()
	b, err := read(shape, body)
	if err != nil {
		return
	}
	if got := b.Bytes(); len(body) > 0 && &got[0] != &body[0] {
		t.Fatal("without replacements the body is another slice")
	}
	for _, scope := range []string{passage.LastMessage, passage.LastUser, passage.All} {
		for _, i := range b.Scope(scope) {
			_ = b.Passages()[i]
		}
	}
	for i := range b.Passages() {
		b.Replace(i, "\"new\\\n")
	}
	if got := b.Bytes(); json.Valid(body) && !json.Valid(got) && b.Passages()[0].Path != "" {
		t.Fatalf("of %s\nmade %s", body, got)
	}
}
