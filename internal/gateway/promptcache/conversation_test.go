package promptcache_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/gateway/promptcache"
	"sluice/internal/kernel/llm"
)

func noHeader(string) string { return "" }

func TestConversation_IsNamedByTheCaller(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ headers, body, want string }{
		"a key of the prompt cache":        {"session-id", `{"prompt_cache_key":"k","messages":[]}`, "key:k"},
		"a header of Claude's agents":      {"x-claude-code-session-id", `{"messages":[]}`, "session:x-claude-code-session-id"},
		"the first of several headers":     {"x-session-id session-id", `{"messages":[]}`, "session:session-id"},
		"a conversation of Responses":      {"", `{"conversation":"conv_1","input":"q"}`, "session:conv_1"},
		"the same as an object":            {"", `{"conversation":{"id":"conv_1"},"input":"q"}`, "session:conv_1"},
		"a session in the user id":         {"", `{"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"s-1\"}"}}`, "session:s-1"},
		"a session in the older user id":   {"", `{"metadata":{"user_id":"user_1_account_2_session_s-1"}}`, "session:s-1"},
		"a user id only":                   {"", `{"metadata":{"user_id":"u-1"}}`, ""},
		"no conversation":                  {"", `{"input":[1,2]}`, ""},
		"a conversation without a request": {"", `{"messages":[{"role":"system","content":"s"}]}`, ""},
		"invalid JSON":                     {"session-id", `{"prompt_cache_key":"k"`, ""},
		"nothing":                          {"session-id", ``, ""},
	} {
		header := func(name string) string {
			for h := range strings.FieldsSeq(c.headers) {
				if h == name {
					return h
				}
			}
			return ""
		}
		if got := promptcache.Conversation(header, []byte(c.body)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestConversation_HasOneNameInEveryTurn(t *testing.T) {
	t.Parallel()
	const mark = `,"cache_control":{"type":"ephemeral"}`
	for name, turns := range map[string][]string{
		"Messages, with marks that move": {
			`{"system":[{"type":"text","text":"s"` + mark + `}],"tools":[{"name":"a"` + mark + `}],"messages":[{"role":"user","content":[{"type":"text","text":"q"` + mark + `}]}]}`,
			`{"system":[{"type":"text","text":"s"}],"tools":[{"name":"a"}],"messages":[{"content":"q","role":"user"},{"role":"assistant","content":"a"},{"role":"user","content":"r"}]}`,
		},
		"a coding agent": agentCalls[:],
		"chat completions": {
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}`,
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","tool_calls":[]},{"role":"tool","content":"r"}],"temperature":1}`,
		},
		"Responses": {
			`{"instructions":"s","input":[{"role":"user","content":[{"type":"input_text","text":"q"}]}]}`,
			`{"instructions":"s","input":[{"role":"user","content":[{"type":"input_text","text":"q"}]},{"type":"reasoning"},{"role":"user","content":"r"}]}`,
		},
	} {
		first := promptcache.Conversation(noHeader, []byte(turns[0]))
		if !strings.HasPrefix(first, "prefix:") {
			t.Errorf("%s: got %q", name, first)
		}
		for _, turn := range turns[1:] {
			if got := promptcache.Conversation(noHeader, []byte(turn)); got != first {
				t.Errorf("%s: got %q, want %q", name, got, first)
			}
		}
	}
}

func TestConversation_DiffersWithThePrefix(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, body := range []string{
		`{"system":"s","messages":[{"role":"user","content":"q"}]}`,
		`{"system":"s2","messages":[{"role":"user","content":"q"}]}`,
		`{"system":"s","messages":[{"role":"user","content":"q2"}]}`,
		`{"system":"s","tools":[{"name":"a"}],"messages":[{"role":"user","content":"q"}]}`,
		`{"system":"s","tools":[{"name":"b"}],"messages":[{"role":"user","content":"q"}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"ab"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"data":"a"}}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"data":"b"}}]}]}`,
		`{"input":"q"}`, `{"input":"r"}`,
	} {
		got := promptcache.Conversation(noHeader, []byte(body))
		if other, twice := seen[got]; got == "" || twice {
			t.Errorf("%s: got %q, as for %s", body, got, other)
		}
		seen[got] = body
	}
}

func FuzzConversationAndPrepare(f *testing.F) {
	f.Add([]byte(agentCalls[0]))
	f.Add([]byte(`{"prompt_cache_key":7,"conversation":[],"metadata":{"user_id":"{"},"input":[{"role":"user"}]}`))
	hosts := []promptcache.Target{
		{Provider: "vertex-ai", Dialect: "anthropic", Endpoint: llm.Messages, Model: "claude-opus-5"},
		{Provider: "openai", Dialect: "openai", Endpoint: llm.ChatComplete},
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if a, b := promptcache.Conversation(noHeader, body), promptcache.Conversation(noHeader, body); a != b {
			t.Errorf("got %q and %q", a, b)
		}
		for _, host := range hosts {
			got := promptcache.Find(host).Prepare(body, promptcache.Options{Auto: true})
			if json.Valid(body) && !json.Valid(got.Body) {
				t.Errorf("%s: invalid: %s", host.Provider, got.Body)
			}
		}
	})
}

func BenchmarkConversation(b *testing.B) {
	body := []byte(`{"system":"` + strings.Repeat("You write code. ", 2000) + `","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"` + strings.Repeat("a", 68_000) + `"}]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if promptcache.Conversation(noHeader, body) == "" {
			b.Fatal("no name")
		}
	}
}
