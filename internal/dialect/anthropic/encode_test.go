package anthropic_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// fromChat is what becomes of a chat completion request.
func fromChat(t testing.TB, body, model string) (*dialect.Outgoing, error) {
	t.Helper()
	c, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall([]byte(body))
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return upstream.EncodeCall(context.Background(), c, target(model))
}

// TestChats: chat completion requests and the fields of the messages requests that
// they become.
func TestChats(t *testing.T) {
	t.Parallel()
	user := `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"hi"}]`
	calls := `{"role":"assistant","content":null,"tool_calls":[{"id":"call:1","type":"function","function":{"name":"f","arguments":"{\"a\": 1.0}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":""}}]}`
	tool := `"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]`
	cases := []struct {
		name, chat, field, want string
		dropped                 string
	}{
		{"plain text", user + `}`, "messages", `[{"role":"user","content":"hi"}]`, ""},
		{"max_tokens", user + `}`, "max_tokens", `100`, ""},
		{"max_completion_tokens", `{"max_completion_tokens":7,"messages":[{"role":"user","content":"hi"}]}`, "max_tokens", `7`, ""},
		{"max_tokens wins", `{"max_completion_tokens":7,"max_tokens":8,"messages":[{"role":"user","content":"hi"}]}`, "max_tokens", `8`, ""},
		{"max_tokens null", `{"max_tokens":null,"messages":[{"role":"user","content":"hi"}]}`, "max_tokens", `64000`, ""},
		{"system", `{"max_tokens":1,"messages":[{"role":"system","content":"a"},{"role":"user","content":"hi"},{"role":"developer","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}`,
			"system", `[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, "messages[2]"},
		{"nothing but instructions", `{"max_tokens":1,"messages":[{"role":"system","content":"a"},{"role":"system","content":"b"}]}`, "messages", `[{"role":"user","content":"b"}]`, ""},
		{"which are the others", `{"max_tokens":1,"messages":[{"role":"system","content":"a"},{"role":"system","content":"b"}]}`, "system", `[{"type":"text","text":"a"}]`, ""},
		{"the model begins", `{"max_tokens":1,"messages":[{"role":"system","content":"a"},{"role":"assistant","content":"Hi! How can I help?"},{"role":"user","content":"x"}]}`,
			"messages", `[{"role":"user","content":"Hello."},{"role":"assistant","content":[{"type":"text","text":"Hi! How can I help?"}]},{"role":"user","content":"x"}]`, ""},
		{"no system", user + `}`, "system", ``, ""},
		{"one role joined", `{"max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`,
			"messages", `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`, ""},
		{"calls and results", `{"max_tokens":1,"messages":[{"role":"user","content":"hi"},` + calls + `,{"role":"tool","tool_call_id":"call:1","content":"one"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"two"}]},{"role":"user","content":"go on"}]}`,
			"messages", `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":{"a": 1.0}},{"type":"tool_use","id":"c2","name":"g","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"one"},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"two"}]},{"type":"text","text":"go on"}]}]`, ""},
		{"calls of tools that are gone", `{"max_tokens":1,"messages":[{"role":"user","content":"hi"},` + calls + `,{"role":"tool","tool_call_id":"call:1","content":"one"},{"role":"tool","tool_call_id":"c2","content":"two"}]}`,
			"tools", `[{"name":"f","input_schema":{"type":"object"}},{"name":"g","input_schema":{"type":"object"}}]`, ""},
		{"which are not to be called", `{"max_tokens":1,"parallel_tool_calls":false,"messages":[{"role":"user","content":"hi"},` + calls + `,{"role":"tool","tool_call_id":"call:1","content":"one"},{"role":"tool","tool_call_id":"c2","content":"two"}]}`,
			"tool_choice", `{"type":"none"}`, ""},
		{"the wish for a tool without a place", user + `,"tools":[{"type":"custom","custom":{"name":"x"}},{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"x"}}}`,
			"tool_choice", ``, "tools[0], tool_choice"},
		{"results first", `{"max_tokens":1,"messages":[{"role":"user","content":"hi"},` + calls + `,{"role":"user","content":"wait"},{"role":"tool","tool_call_id":"c2","content":"two"}]}`,
			"messages", `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":{"a": 1.0}},{"type":"tool_use","id":"c2","name":"g","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"two"},{"type":"text","text":"wait"}]}]`, ""},
		{"thoughts over turns", `{"max_tokens":1,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"x","content_blocks":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"x"}]},{"role":"user","content":"more"}]}`,
			"messages", `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"x"}]},{"role":"user","content":"more"}]`, ""},
		{"thoughts nobody signed", `{"max_tokens":1,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"}]}]}`,
			"messages", `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"x"}]}]`, "messages[1].content[0]"},
		{"empty turns", `{"max_tokens":1,"messages":[{"role":"system","content":""},{"role":"user","content":"hi"},{"role":"assistant","content":""},{"role":"user","content":"more"}]}`,
			"messages", `[{"role":"user","content":"hi"},{"role":"user","content":"more"}]`, ""},
		{"blank texts", `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"hi"}]},{"role":"assistant","content":"\n","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"\t"}]},{"role":"user","content":" "}]}`,
			"messages", `[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[]}]}]`, ""},
		{"empty system", `{"max_tokens":1,"messages":[{"role":"system","content":""},{"role":"user","content":"hi"}]}`, "system", ``, ""},
		{"names", `{"max_tokens":1,"messages":[{"role":"user","name":"ann","content":"hi"}]}`, "messages", `[{"role":"user","content":"hi"}]`, "messages[0].name"},

		{"image", `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk=","detail":"low"}},{"type":"image_url","image_url":{"url":"https://x.org/a.png"}}]}]}`,
			"messages", `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"image","source":{"type":"url","url":"https://x.org/a.png"}}]}]`, "messages[0].content[0].image_url.detail"},
		{"document as image", `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:application/pdf;base64,aGk="}}]}]}`,
			"messages", `[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}}]}]`, ""},
		{"documents", `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"aGk="}},{"type":"file","file":{"file_url":"https://x.org/a.pdf","title":"T","citations":{"enabled":true}}},{"type":"file","file":{"file_data":"aGk=","mime_type":"text/plain","filename":"a.txt"}},{"type":"file","file":{"file_id":"f1","mime_type":"image/png"}},{"type":"file","file":{"file_id":"f2"}}]}]}`,
			"messages", `[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}},` +
				`{"type":"document","source":{"type":"url","url":"https://x.org/a.pdf"},"title":"T","citations":{"enabled":true}},` +
				`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"},"title":"a.txt"},` +
				`{"type":"image","source":{"type":"file","file_id":"f1"}},{"type":"document","source":{"type":"file","file_id":"f2"}}]}]`, ""},

		{"tools", user + `,` + tool + `}`, "tools", `[{"name":"f","description":"d","input_schema":{"type":"object"}}]`, ""},
		{"schema without type", user + `,"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"a":{}},"$defs":{}}}}]}`, "tools", `[{"name":"f","input_schema":{"type":"object","properties":{"a":{}},"$defs":{}}}]`, ""},
		{"no schema", user + `,"tools":[{"type":"function","function":{"name":"f"}}]}`, "tools", `[{"name":"f","input_schema":{"type":"object"}}]`, ""},
		{"tool extras", user + `,"tools":[{"type":"function","cache_control":{"type":"ephemeral"},"function":{"name":"f","strict":true,"defer_loading":true,"x":1}}]}`,
			"tools", `[{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"},"defer_loading":true}]`, "tools[0].function.strict, tools[0].function.x"},
		{"built-in tools", user + `,"tools":[{"type":"web_search","web_search":{"name":"web_search_20250305","max_uses":2}},{"type":"bash_20250124","name":"bash"},{"type":"mcp","server_url":"x"}]}`,
			"tools", `[{"type":"web_search_20250305","name":"web_search","max_uses":2},{"type":"bash_20250124","name":"bash"}]`, "tools[2]"},
		{"choice auto", user + `,` + tool + `,"tool_choice":"auto"}`, "tool_choice", `{"type":"auto"}`, ""},
		{"choice required", user + `,` + tool + `,"tool_choice":"required"}`, "tool_choice", `{"type":"any"}`, ""},
		{"choice none", user + `,` + tool + `,"tool_choice":"none","parallel_tool_calls":false}`, "tool_choice", `{"type":"none"}`, ""},
		{"choice of one", user + `,` + tool + `,"tool_choice":{"type":"function","function":{"name":"f"}}}`, "tool_choice", `{"type":"tool","name":"f"}`, ""},
		{"choice of some", user + `,` + tool + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{}}}`, "tool_choice", ``, "tool_choice"},
		{"one at a time", user + `,` + tool + `,"parallel_tool_calls":false}`, "tool_choice", `{"type":"auto","disable_parallel_tool_use":true}`, ""},
		{"one at a time, required", user + `,` + tool + `,"tool_choice":"required","parallel_tool_calls":false}`, "tool_choice", `{"type":"any","disable_parallel_tool_use":true}`, ""},
		{"choice without tools", user + `,"tool_choice":"required"}`, "tool_choice", ``, "tool_choice"},

		{"stop text", user + `,"stop":"a"}`, "stop_sequences", `["a"]`, ""},
		{"stop list", user + `,"stop":["a","b"]}`, "stop_sequences", `["a","b"]`, ""},
		{"user", user + `,"user":"u-1"}`, "metadata", `{"user_id":"u-1"}`, ""},
		{"metadata", user + `,"metadata":{"a":"b"}}`, "metadata", ``, "metadata"},
		{"temperature and top_p", user + `,"temperature":1.5,"top_p":0.9}`, "top_p", ``, "top_p"},
		{"temperature is not clamped", user + `,"temperature":1.5}`, "temperature", `1.5`, ""},
		{"top_p alone", user + `,"top_p":0.9}`, "top_p", `0.9`, ""},
		{"stream", user + `,"stream":true,"stream_options":{"include_usage":true}}`, "stream", `true`, ""},
		{"what chat has alone", user + `,"n":2,"logprobs":true,"seed":1,"logit_bias":{"1":2},"presence_penalty":1,"frequency_penalty":0,"store":false}`, "n", ``, "n, logprobs, seed, logit_bias, presence_penalty"},
		{"tier auto", user + `,"service_tier":"auto"}`, "service_tier", `"auto"`, ""},
		{"tier default", user + `,"service_tier":"default"}`, "service_tier", `"standard_only"`, ""},
		{"tier fast", user + `,"service_tier":"fast"}`, "speed", `"fast"`, ""},
		{"tier flex", user + `,"service_tier":"flex"}`, "service_tier", ``, "service_tier"},
		{"Anthropic's own", user + `,"cache_control":{"type":"ephemeral"},"context_management":{"edits":[]},"top_k":5}`, "context_management", `{"edits":[]}`, ""},
		{"schema", user + `,"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","strict":true,"schema":{"type":"object"}}}}`,
			"output_config", `{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}}}`, "response_format.json_schema.description"},
		{"some JSON", user + `,"response_format":{"type":"json_object"}}`, "system", `[{"type":"text","text":"Answer with one JSON object and nothing else."}]`, ""},
		{"output_config", user + `,"output_config":{"effort":"low","task_budget":{}},"response_format":{"type":"json_schema","json_schema":{"schema":{}}}}`,
			"output_config", `{"effort":"low","task_budget":{},"format":{"type":"json_schema","schema":{}}}`, ""},
	}
	for _, c := range cases {
		out, err := fromChat(t, c.chat, "claude-sonnet-4-5")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, _ := jsonedit.Find(out.Body, c.field); string(got) != c.want || !jsonedit.Valid(out.Body) {
			t.Errorf("%s: %s is\n%s, want\n%s", c.name, c.field, got, c.want)
		}
		if dropped := strings.Join(out.Dropped, ", "); dropped != c.dropped {
			t.Errorf("%s: lost %q, want %q", c.name, dropped, c.dropped)
		}
	}
}

// TestEffortGivesWay: a word of effort is left out where Claude would refuse the call for it.
func TestEffortGivesWay(t *testing.T) {
	t.Parallel()
	const (
		question  = `{"role":"user","content":"hi"}`
		calls     = `"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		came      = `{"role":"tool","tool_call_id":"c1","content":"r"}`
		reasoning = `{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}],` + calls
		tools     = `"tools":[{"type":"function","function":{"name":"f"}}]`
		low       = `{"type":"enabled","budget_tokens":1024}`
	)
	for _, c := range []struct{ name, rest, thinking, dropped string }{
		{"no thought before calls", `"messages":[` + question + `,{"role":"assistant","content":"",` + calls + `,` + came + `]`, ``, `reasoning_effort`},
		{"nor beside what the user adds", `"messages":[` + question + `,{"role":"assistant","content":"",` + calls + `,` + came + `,` + question + `]`, ``, `reasoning_effort`},
		{"a thought before calls", `"messages":[` + question + `,` + reasoning + `,` + came + `]`, low, ``},
		{"a thought before the first calls", `"messages":[` + question + `,` + reasoning + `,` + came + `,{"role":"assistant","content":"",` + calls + `,` + came + `]`, low, ``},
		{"calls of an earlier turn", `"messages":[` + question + `,{"role":"assistant","content":"",` + calls + `,` + came + `,{"role":"assistant","content":"a"},` + question + `]`, low, ``},
		{"a temperature", `"messages":[` + question + `],"temperature":0.2`, ``, `reasoning_effort`},
		{"its own temperature", `"messages":[` + question + `],"temperature":1.0`, low, ``},
		{"a part of the words", `"messages":[` + question + `],"top_p":0.5`, ``, `reasoning_effort`},
		{"nearly all words", `"messages":[` + question + `],"top_p":0.95`, low, ``},
		{"the likeliest words", `"messages":[` + question + `],"top_k":5`, ``, `reasoning_effort`},
		{"a call that must be", `"messages":[` + question + `],"tool_choice":"required",` + tools, ``, `reasoning_effort`},
		{"a call that may be", `"messages":[` + question + `],"tool_choice":"auto",` + tools, low, ``},
	} {
		out, err := fromChat(t, `{"reasoning_effort":"low",`+c.rest+`}`, "claude-sonnet-4-5")
		if err != nil {
			t.Fatal(err)
		}
		if thinking, _ := jsonedit.Find(out.Body, "thinking"); string(thinking) != c.thinking || strings.Join(out.Dropped, ", ") != c.dropped {
			t.Errorf("%s: %s, lost %q", c.name, thinking, out.Dropped)
		}
	}
}

// TestEffort: how much to think, by generations of models.
// Source: contract/provider-transforms.md 1.6.
func TestEffort(t *testing.T) {
	t.Parallel()
	cases := []struct {
		model, chat               string
		thinking, config, dropped string
	}{
		{"claude-sonnet-4-5", `"reasoning_effort":"low"`, `{"type":"enabled","budget_tokens":1024}`, ``, ``},
		{"claude-sonnet-4-5", `"reasoning_effort":"medium"`, `{"type":"enabled","budget_tokens":8192}`, ``, ``},
		{"claude-sonnet-4-5", `"reasoning_effort":"high"`, `{"type":"enabled","budget_tokens":16384}`, ``, ``},
		{"claude-sonnet-4-5", `"reasoning_effort":"xhigh"`, `{"type":"enabled","budget_tokens":32768}`, ``, ``},
		{"claude-sonnet-4-5", `"reasoning_effort":"xhigh","max_tokens":32768`, ``, ``, `reasoning_effort`},
		{"claude-sonnet-4-5", `"reasoning_effort":"minimal"`, ``, ``, `reasoning_effort`},
		{"claude-sonnet-4-5", `"reasoning_effort":"none"`, ``, ``, ``},
		{"claude-sonnet-4-5", `"reasoning_effort":"max"`, ``, ``, `reasoning_effort`},
		{"my-deployment", `"reasoning_effort":"low","max_tokens":2000`, `{"type":"enabled","budget_tokens":1024}`, ``, ``},
		{"claude-3-5-haiku-latest", `"reasoning_effort":"low"`, ``, ``, `reasoning_effort`},
		{"claude-opus-4-6", `"reasoning_effort":"high"`, `{"type":"adaptive"}`, `{"effort":"high"}`, ``},
		{"claude-opus-4-6", `"reasoning_effort":"xhigh"`, `{"type":"adaptive"}`, ``, `reasoning_effort`},
		{"claude-opus-4-7", `"reasoning_effort":"xhigh"`, `{"type":"adaptive","display":"summarized"}`, `{"effort":"xhigh"}`, ``},
		{"claude-opus-4-6", `"reasoning_effort":"xhigh","thinking":{"type":"adaptive"}`, `{"type":"adaptive"}`, ``, `reasoning_effort`},
		{"claude-opus-5-5", `"reasoning_effort":"max"`, `{"type":"adaptive","display":"summarized"}`, `{"effort":"max"}`, ``},
		{"claude-opus-5-5", `"reasoning_effort":"none"`, ``, ``, `reasoning_effort`},
		{"claude-fable-5-1", `"reasoning_effort":"none"`, ``, ``, `reasoning_effort`},
		{"claude-sonnet-5-5", `"reasoning_effort":"none"`, `{"type":"between_tools"}`, ``, ``},
		{"claude-haiku-5-5", `"reasoning_effort":"none"`, `{"type":"disabled"}`, ``, ``},
		{"claude-opus-5", `"reasoning_effort":"none"`, `{"type":"disabled"}`, ``, ``},
		{"claude-opus-4-6", `"reasoning_effort":"low","thinking":{"type":"disabled"}`, `{"type":"disabled"}`, `{"effort":"low"}`, ``},
		{"claude-sonnet-4", `"reasoning_effort":"low","thinking":{"type":"enabled","budget_tokens":2048}`, `{"type":"enabled","budget_tokens":2048}`, ``, `reasoning_effort`},
	}
	for _, c := range cases {
		out, err := fromChat(t, `{"messages":[{"role":"user","content":"hi"}],`+c.chat+`}`, c.model)
		if err != nil {
			t.Fatal(err)
		}
		thinking, _ := jsonedit.Find(out.Body, "thinking")
		config, _ := jsonedit.Find(out.Body, "output_config")
		if string(thinking) != c.thinking || string(config) != c.config || strings.Join(out.Dropped, ", ") != c.dropped {
			t.Errorf("%s %s: %s %s, lost %q", c.model, c.chat, thinking, config, out.Dropped)
		}
	}
}

// TestNewestModels: what the newest models refuse, most of OpenAI's clients say all the same.
func TestNewestModels(t *testing.T) {
	t.Parallel()
	const forced = `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":`
	for _, c := range []struct{ model, chat, want, dropped string }{
		{"claude-opus-4-6", `"temperature":0.2,"top_k":5`, `"temperature":0.2,"top_k":5`, ""},
		{"claude-opus-4-7", `"temperature":0.2,"top_k":5,"top_p":0.5`, "", "temperature, top_k, top_p"},
		{"claude-sonnet-5@20260601", `"temperature":1,"top_p":1.0`, "", ""},
		{"claude-haiku-5-5", `"temperature":0`, "", "temperature"},
		{"claude-opus-5", forced + `"required"`, `"tool_choice":{"type":"any"}`, ""},
		{"claude-opus-5-5", forced + `"required"`, `"tool_choice":{"type":"auto"}`, "tool_choice"},
		{"claude-sonnet-5-5", forced + `{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false`, `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`, "tool_choice"},
		{"claude-fable-5", forced + `"required"`, `"tool_choice":{"type":"any"}`, ""},
		{"claude-fable-5-1", forced + `"required"`, `"tool_choice":{"type":"auto"}`, "tool_choice"},
		{"claude-haiku-5-5", forced + `"required"`, `"tool_choice":{"type":"any"}`, ""},
		{"claude-opus-5-5", forced + `"none"`, `"tool_choice":{"type":"none"}`, ""},
	} {
		out, err := fromChat(t, `{"messages":[{"role":"user","content":"hi"}],`+c.chat+`}`, c.model)
		if err != nil {
			t.Fatal(err)
		}
		var members []string
		for _, name := range []string{"temperature", "top_k", "top_p", "tool_choice"} {
			if raw, ok := jsonedit.Find(out.Body, name); ok {
				members = append(members, `"`+name+`":`+string(raw))
			}
		}
		if got := strings.Join(members, ","); got != c.want || strings.Join(out.Dropped, ", ") != c.dropped {
			t.Errorf("%s %s: %s, lost %q", c.model, c.chat, got, out.Dropped)
		}
	}
}

// TestLastWord: from 4.6 on the user has it.
func TestLastWord(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]bool{"claude-sonnet-4-5": false, "claude-opus-4-6": true, "claude-haiku-5-5": true, "my-deployment": false} {
		out, err := fromChat(t, `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Well,"}]}`, model)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(out.Body), `{"role":"user","content":"Go on."}]`); got != want || len(out.Dropped) > 0 {
			t.Errorf("%s: %s, lost %q", model, out.Body, out.Dropped)
		}
	}
}

// TestMaxTokens: Anthropic must be told how long an answer may become.
func TestMaxTokens(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"claude-opus-5-5": "128000", "claude-haiku-5-5": "128000", "claude-fable-5-1": "128000", "claude-mythos-preview": "4096",
		"claude-sonnet-4-6": "128000", "us.anthropic.claude-opus-4-6-v1": "128000", "claude-sonnet-4-5@20250929": "64000", "claude-haiku-4-5-20251001": "64000",
		"claude-opus-4-5": "64000", "claude-opus-4-1-20250805": "32000", "claude-opus-4-20250514": "32000", "claude-sonnet-4-20250514": "64000",
		"anthropic.claude-3-7-sonnet-20250219-v1:0": "64000", "claude-3-5-haiku-20241022": "8192", "claude-3-haiku-20240307": "4096",
		"claude-2.1": "4096", "claude-instant-1.2": "4096", "my-deployment-99": "4096", "": "4096",
	} {
		out, err := fromChat(t, `{"messages":[{"role":"user","content":"hi"}]}`, model)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := jsonedit.Find(out.Body, "max_tokens"); string(got) != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
}

// TestBetas: what a request needs is added to what the caller asked for.
func TestBetas(t *testing.T) {
	t.Parallel()
	to := target("m")
	to.Value = func(name string) string { return map[string]string{"anthropic_beta": "a, b"}[name] }
	for body, want := range map[string]string{
		`{"messages":[{"role":"user","content":"x"}]}`:                                                                                            "",
		`{"messages":[{"role":"user","content":"x"}],"anthropic_beta":["b","c"]}`:                                                                 "a,b,c",
		`{"messages":[{"role":"user","content":"x"}],"anthropic_beta":"c,d"}`:                                                                     "a,b,c,d",
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"f"}}]}]}`:                                      "a,b,files-api-2025-04-14",
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}]}`:                                       "refused",
		`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]},"x":1}]}]}`: "",
	} {
		c, err := client.DecodeCall([]byte(body))
		if err != nil {
			if want != "refused" {
				t.Errorf("%s: %v", body, err)
			}
			continue
		}
		out, err := upstream.EncodeCall(context.Background(), c, to)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Header.Get("anthropic-beta"); got != want || len(out.Dropped) > 0 {
			t.Errorf("%s: %q, want %q; lost %q", body, got, want, out.Dropped)
		}
	}
}

// TestSenseless: what Anthropic cannot be asked.
func TestSenseless(t *testing.T) {
	t.Parallel()
	for chat, param := range map[string]string{
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}}]}]}`:  "messages[0].content[1]",
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:video/mp4;base64,aGk="}}]}]}`:                           "messages[0].content[0]",
		`{"messages":[{"role":"user","content":[{"type":"new_part"}]}]}`:                                                                             "messages[0].content[0]",
		`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"{}"}}]}]}`:                           "messages[0]",
		`{"messages":[{"role":"function","name":"f","content":"x"}]}`:                                                                                "messages[0]",
		`{"messages":[{"role":"user","content":"x"},{"role":"user","content":[{"type":"file","file":{"file_data":"data:audio/wav;base64,aGk="}}]}]}`: "messages[1].content[0]",
	} {
		out, err := fromChat(t, chat, "claude-opus-4-5")
		if f := fault.From(err); f == nil || f.Code != fault.InvalidParameter || f.Param != param {
			t.Errorf("%s: %v, %v", chat, err, out)
		}
	}
}
