package cohere_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/cohere"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var target = &dialect.Target{Provider: "cohere", Model: "command-a-03-2025"}

// chatCall reads a request of chat completions; its fields beside the messages, when
// the messages are not given.
func chatCall(t testing.TB, fields string) *llm.Call {
	t.Helper()
	if !strings.Contains(fields, `"messages"`) {
		fields = strings.TrimSuffix(`"messages":[{"role":"user","content":"x"}],`+fields, ",")
	}
	c, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall([]byte("{" + fields + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func upstream() dialect.Upstream { return cohere.Dialect().Upstreams[llm.ChatComplete] }

func TestEncodeCall(t *testing.T) {
	t.Parallel()
	const head, user = `{"model":"command-a-03-2025","messages":[`, `{"role":"user","content":"x"}]`
	for _, c := range []struct {
		name, call, want string // want: what follows head; with a comma at its beginning, what follows user
		dropped          []string
	}{
		{
			"parameters",
			`"temperature":0.3,"top_p":0.9,"top_k":40,"max_completion_tokens":50,"stop":"END","seed":7,"frequency_penalty":0.1,"presence_penalty":0.2,"logprobs":true,"n":1,"user":"u","documents":["d"],"safety_mode":"OFF"`,
			`,"temperature":0.3,"seed":7,"frequency_penalty":0.1,"presence_penalty":0.2,"p":0.9,"logprobs":true,"documents":["d"],"safety_mode":"OFF","max_tokens":50,"k":40,"stop_sequences":["END"]}`,
			[]string{"user"},
		},
		{"several answers", `"n":2,"stop":["a","b"]`, `,"stop_sequences":["a","b"]}`, []string{"n"}},
		{"thinking", `"thinking":{"type":"enabled","budget_tokens":2048}`, `,"thinking":{"type":"enabled","token_budget":2048}}`, nil},
		{"thinking in Cohere's words", `"thinking":{"type":"disabled"}`, `,"thinking":{"type":"disabled"}}`, nil},
		{"thinking as the model will", `"thinking":{"type":"adaptive"},"seed":7`, `,"seed":7}`, []string{"thinking"}},
		{"json", `"response_format":{"type":"json_object"}`, `,"response_format":{"type":"json_object"}}`, nil},
		{
			"a schema", `"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","strict":true,"schema":{"type":"object"}}}`,
			`,"strict_tools":true,"response_format":{"type":"json_object","json_schema":{"type":"object"}}}`,
			[]string{"response_format.json_schema.description"},
		},
		{
			"tools", `"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}},{"type":"function","function":{"name":"g"}}],"tool_choice":"required"`,
			`,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],"tool_choice":"REQUIRED"}`,
			nil,
		},
		{
			"one of two tools", `"tools":[{"type":"function","function":{"name":"f","strict":true}},{"type":"function","function":{"name":"g"}},{"type":"web_search"}],"tool_choice":{"type":"function","function":{"name":"g"}},"parallel_tool_calls":false`,
			`,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],"tool_choice":"REQUIRED"}`,
			[]string{"tools[2]", "tools[0].function.strict", "tool_choice.function.name", "parallel_tool_calls"},
		},
		{
			"no tools now", `"tools":[{"type":"function","function":{"name":"f","strict":true}}],"tool_choice":"none"`,
			`,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"strict_tools":true,"tool_choice":"NONE"}`, nil,
		},
		{
			"a developer and an image", `"messages":[{"role":"developer","content":"be brief"},{"role":"user","name":"ann","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw==","detail":"low"}}]}]`,
			`{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw==","detail":"low"}}]}]}`,
			[]string{"messages[1].name"},
		},
		{
			"a conversation with tools",
			`"messages":[{"role":"user","content":"weather?"},{"role":"assistant","content":"I look it up.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"c\":1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":""}}]},{"role":"tool","tool_call_id":"a","content":"sun"},{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]},{"role":"assistant","content":"Sunny."}]`,
			`{"role":"user","content":"weather?"},{"role":"assistant","tool_plan":"I look it up.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"c\":1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"sun"},{"role":"tool","tool_call_id":"b","content":"1\n2"},{"role":"assistant","content":"Sunny."}]}`,
			nil,
		},
		{
			"thoughts", `"messages":[{"role":"user","content":"x"},{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"y"}]}]`,
			`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"y"}]}]}`,
			[]string{"messages[1].content[1]", "messages[1].content[0].signature"},
		},
		{
			"thoughts that were signed without being shown", `"messages":[{"role":"user","content":"x"},{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"","signature":"s"},{"type":"text","text":"y"}]},{"role":"user","content":"z"},{"role":"assistant","content_blocks":[{"type":"thinking","thinking":"","signature":"s"}]}]`,
			`{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":"z"}]}`,
			[]string{"messages[1].content[0]", "messages[3].content[0]"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := upstream().EncodeCall(context.Background(), chatCall(t, c.call), target)
			if err != nil {
				t.Fatal(err)
			}
			want := head + c.want
			if c.want[0] == ',' {
				want = head + user + c.want
			}
			if string(out.Body) != want {
				t.Errorf("sent\n%s\nwant\n%s", out.Body, want)
			}
			if !slices.Equal(out.Dropped, c.dropped) {
				t.Errorf("lost %q, want %q", out.Dropped, c.dropped)
			}
		})
	}
}

func TestEncodeCallAsksForAStream(t *testing.T) {
	t.Parallel()
	to := *target
	to.Stream = true
	out, err := upstream().EncodeCall(context.Background(), chatCall(t, `"stream":true,"stream_options":{"include_usage":true}`), &to)
	if err != nil || !strings.HasSuffix(string(out.Body), `],"stream":true}`) || len(out.Dropped) > 0 {
		t.Errorf("%s, lost %q, %v", out.Body, out.Dropped, err)
	}
}

func TestEncodeCallRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ messages, param string }{
		"a recording":   {`{"role":"user","content":[{"type":"text","text":"x"},{"type":"input_audio","input_audio":{"data":"eA==","format":"wav"}}]}`, "messages[0].content[1]"},
		"a document":    {`{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,eA=="}}]}`, "messages[0].content[0]"},
		"a custom tool": {`{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"x"}}]}`, "messages[0]"},
	} {
		_, err := upstream().EncodeCall(context.Background(), chatCall(t, `"messages":[`+c.messages+`]`), target)
		if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != c.param {
			t.Errorf("%s: %v", name, err)
		}
	}
}
