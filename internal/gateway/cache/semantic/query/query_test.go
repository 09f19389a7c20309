package query_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/cache/semantic/query"
)

func TestChat_SplitsTheLastUserText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, text, rest string }{
		"a text": {
			`{"model":"m","messages":[{"role":"user","content":"Hi \"you\" \u00e9"}],"temperature":0}`,
			`Hi "you" é`,
			`{"model":"m","messages":[{"role":"user","content":""}],"temperature":0}`,
		},
		"a text part": {
			`{"messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}]}`,
			"Hi",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"","cache_control":{"type":"ephemeral"}}]}]}`,
		},
		"two text parts": {
			`{"messages":[{"content":[{"text":"a","type":"text"},{"type":"text","text":"b"}],"role":"user"}]}`,
			"a\nb",
			`{"messages":[{"content":[{"text":"","type":"text"},{"type":"text","text":""}],"role":"user"}]}`,
		},
		"earlier turns remain": {
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"yes"},{"role":"assistant","content":"a"},{"role":"user","content":"yes"}]}`,
			"yes",
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"yes"},{"role":"assistant","content":"a"},{"role":"user","content":""}]}`,
		},
	} {
		got, ok := query.Chat([]byte(c.body))
		if !ok || got.Text != c.text || string(got.Rest) != c.rest {
			t.Errorf("%s: got %q, %s, %v", name, got.Text, got.Rest, ok)
		}
	}
}

// The second step of an agent has the same last user text and a new tool result; another
// conversation may end with the same "yes, go on".
func TestChat_StepsOfAgentsAndOtherConversationsHaveAnotherRest(t *testing.T) {
	t.Parallel()
	turn := func(before string) string {
		return `{"messages":[` + before + `{"role":"user","content":"yes, go on"}]}`
	}
	seen := map[string]bool{}
	for _, before := range []string{
		``,
		`{"role":"system","content":"a"},`,
		`{"role":"assistant","tool_calls":[{"id":"c1"}]},{"role":"tool","tool_call_id":"c1","content":"20"},`,
		`{"role":"assistant","tool_calls":[{"id":"c1"}]},{"role":"tool","tool_call_id":"c1","content":"21"},`,
		`{"role":"assistant","content":"Shall I delete it?"},`,
		`{"role":"assistant","content":"Shall I buy it?"},`,
	} {
		got, ok := query.Chat([]byte(turn(before)))
		if !ok || seen[string(got.Rest)] {
			t.Errorf("%s: %v, the rest is one of another conversation", before, ok)
		}
		seen[string(got.Rest)] = true
	}
}

func TestChat_RejectsCallsWithoutAFinalUserText(t *testing.T) {
	t.Parallel()
	user := `{"role":"user","content":"Hi"}`
	for name, messages := range map[string]string{
		"no messages":          `[]`,
		"not a list":           `"Hi"`,
		"a tool result":        `[` + user + `,{"role":"tool","content":"20"}]`,
		"an assistant's turn":  `[` + user + `,{"role":"assistant","content":"Hello"}]`,
		"a system prompt only": `[{"role":"system","content":"s"}]`,
		"five messages":        `[` + strings.Repeat(user+",", 4) + user + `]`,
		"an image":             `[{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image_url","image_url":{"url":"u"}}]}]`,
		"no parts":             `[{"role":"user","content":[]}]`,
		"no content":           `[{"role":"user"}]`,
		"null":                 `[{"role":"user","content":null}]`,
		"a blank text":         `[{"role":"user","content":" \n"}]`,
		"a part that is text":  `[{"role":"user","content":["Hi"]}]`,
		"two contents":         `[{"role":"user","content":"Hi","content":"Ho"}]`,
		"two roles":            `[{"role":"user","role":"tool","content":"Ho"}]`,
		"a role in parts":      `[{"role":["user"],"content":"Ho"}]`,
		"a message in a list":  `[[` + user + `]]`,
		"too long":             `[{"role":"user","content":"` + strings.Repeat("a", 4*query.MaxTokens) + `"}]`,
	} {
		if got, ok := query.Chat([]byte(`{"messages":` + messages + `}`)); ok {
			t.Errorf("%s: accepted with the text %.20q", name, got.Text)
		}
	}
	for name, body := range map[string]string{
		"nothing": ``, "no object": `[]`, "no member": `{}`, "cut": `{"messages":[` + user,
		"two lists": `{"messages":[` + user + `],"messages":[` + user + `]}`,
	} {
		if _, ok := query.Chat([]byte(body)); ok {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCompletion_SplitsThePrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, text, rest string
		ok               bool
	}{
		{`{"prompt":"Hi","suffix":"x"}`, "Hi", `{"prompt":"","suffix":"x"}`, true},
		{`{"prompt":["Hi"]}`, "Hi", `{"prompt":[""]}`, true},
		{`{"prompt":["a","b"]}`, "", "", false},
		{`{"prompt":[[1,2]]}`, "", "", false},
		{`{"prompt":[1,2]}`, "", "", false},
		{`{"prompt":[1]}`, "", "", false},
		{`{"prompt":[]}`, "", "", false},
		{`{"prompt":null}`, "", "", false},
		{`{"prompt":""}`, "", "", false},
		{`{"prompt":"a","prompt":"b"}`, "", "", false},
		{`{}`, "", "", false},
		{`x`, "", "", false},
	} {
		got, ok := query.Completion([]byte(c.body))
		if ok != c.ok || ok && (got.Text != c.text || string(got.Rest) != c.rest) {
			t.Errorf("%s: got %q, %s, %v", c.body, got.Text, got.Rest, ok)
		}
	}
}

// TestChat_ChangesOfTheRestAreChangesOfRest holds for any text and any parameter.
func TestChat_ChangesOfTheRestAreChangesOfRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, other := rapid.String().Draw(t, "text"), rapid.String().Draw(t, "other")
		system, temperature := rapid.String().Draw(t, "system"), rapid.IntRange(0, 2).Draw(t, "temperature")
		body := func(text string) []byte {
			messages := []map[string]string{{"role": "system", "content": system}, {"role": "user", "content": text}}
			raw, err := json.Marshal(map[string]any{"messages": messages, "temperature": temperature})
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		a, okA := query.Chat(body(text))
		b, okB := query.Chat(body(other))
		if okA != (strings.TrimSpace(text) != "") || okA && a.Text != strings.ToValidUTF8(text, "\ufffd") {
			t.Fatalf("got %q, %v", a.Text, okA)
		}
		if okA && okB && !bytes.Equal(a.Rest, b.Rest) {
			t.Fatalf("the rests of two texts differ: %s, %s", a.Rest, b.Rest)
		}
	})
}

func FuzzChat_NeverPanicsAndKeepsJSON(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"Hi"}]}`)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}`)
	f.Add(`{"prompt":["x"]}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, split := range []func([]byte) (query.Query, bool){query.Chat, query.Completion} {
			if got, ok := split([]byte(body)); ok && !json.Valid(got.Rest) && json.Valid([]byte(body)) {
				t.Fatalf("the rest is not JSON: %s", got.Rest)
			}
		}
	})
}

func BenchmarkChat(b *testing.B) {
	body := fmt.Appendf(nil, `{"model":"m","messages":[{"role":"system","content":%q},{"role":"user","content":"How do I reset it?"}]}`, strings.Repeat("be nice ", 500))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		query.Chat(body)
	}
}
