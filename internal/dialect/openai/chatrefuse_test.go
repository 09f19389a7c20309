package openai

import (
	"context"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// What no target could carry is refused with the place of it.
func TestCallsRefused(t *testing.T) {
	t.Parallel()
	user := `{"model":"m","messages":[{"role":"user","content":`
	call := `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	hi := `"messages":[{"role":"user","content":"x"}]}`
	tool := `{"type":"function","function":{"name":"f"}}`
	cases := []struct{ name, body, param string }{
		{"no messages", `{"model":"m"}`, "messages"},
		{"messages no list", `{"messages":{}}`, "messages"},
		{"message no object", `{"messages":["hi"]}`, "messages[0]"},
		{"unknown role", `{"messages":[{"role":"judge","content":"x"}]}`, "messages[0].role"},
		{"no role", `{"messages":[{"content":"x"}]}`, "messages[0].role"},
		{"content a number", user + `7}]}`, "messages[0].content"},
		{"part without type", user + `[{"text":"x"}]}]}`, "messages[0].content[0].type"},
		{"text a number", user + `[{"type":"text","text":7}]}]}`, "messages[0].content[0].text"},
		{"image without URL", user + `[{"type":"image_url","image_url":{}}]}]}`, "messages[0].content[0].image_url.url"},
		{"data URL without base64", user + `[{"type":"image_url","image_url":{"url":"data:image/png,abc"}}]}]}`, "messages[0].content[0].image_url.url"},
		{"broken base64", user + `[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,a b"}}]}]}`, "messages[0].content[1].image_url.url"},
		{"image in a file", user + `[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]}`, "messages[0].content[0].image_url.url"},
		{"image without a scheme", user + `[{"type":"image_url","image_url":{"url":"iVBORw0KGgo="}}]}]}`, "messages[0].content[0].image_url.url"},
		{"document in a file", user + `[{"type":"file","file":{"file_url":"file:///etc/passwd"}}]}]}`, "messages[0].content[0].file.file_url"},
		{"audio without data", user + `[{"type":"input_audio","input_audio":{"format":"wav"}}]}]}`, "messages[0].content[0].input_audio.data"},
		{"broken audio", user + `[{"type":"input_audio","input_audio":{"data":"***","format":"wav"}}]}]}`, "messages[0].content[0].input_audio.data"},
		{"empty file", user + `[{"type":"file","file":{}}]}]}`, "messages[0].content[0].file"},
		{"broken file", user + `[{"type":"file","file":{"file_data":"%%%"}}]}]}`, "messages[0].content[0].file.file_data"},
		{"result without call", `{"messages":[{"role":"tool","tool_call_id":"c9","content":"x"}]}`, "messages[0].tool_call_id"},
		{"result of another call", `{"messages":[` + call + `,{"role":"tool","tool_call_id":"c2","content":"x"}]}`, "messages[1].tool_call_id"},
		{"result without id", `{"messages":[` + call + `,{"role":"tool","content":"x"}]}`, "messages[1].tool_call_id"},
		{"call without name", `{"messages":[{"role":"assistant","tool_calls":[{"id":"c1","function":{}}]}]}`, "messages[0].tool_calls[0].function.name"},
		{"call without id", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}]}`, "messages[0].tool_calls[0].id"},
		{"arguments no text", `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{}}}]}]}`, "messages[0].tool_calls[0].function.arguments"},
		{"model a number", `{"model":7,"messages":[{"role":"user","content":"x"}]}`, "model"},
		{"tools no list", `{"tools":{},"messages":[{"role":"user","content":"x"}]}`, "tools"},
		{"tool without type", `{"tools":[{"function":{"name":"f"}}]}`, "tools[0].type"},
		{"tool without name", `{"tools":[{"type":"function","function":{}}]}`, "tools[0].function.name"},
		{"schema a text", `{"tools":[{"type":"function","function":{"name":"f","parameters":"{}"}}]}`, "tools[0].function.parameters"},
		{"unknown choice", `{"tool_choice":"maybe"}`, "tool_choice"},
		{"choice without name", `{"tool_choice":{"type":"function"}}`, "tool_choice.function.name"},
		{"unknown format", `{"response_format":{"type":"xml"}}`, "response_format.type"},
		{"choice of an unknown kind", `{"tool_choice":{"type":"perhaps"}}`, "tool_choice.type"},
		{"choice of another tool", `{"tools":[` + tool + `],"tool_choice":{"type":"function","function":{"name":"g"}},` + hi, "tool_choice.function.name"},
		{"choice without tools", `{"tool_choice":{"type":"function","function":{"name":"g"}},` + hi, "tool_choice.function.name"},
		{"two tools of one name", `{"tools":[` + tool + `,` + tool + `],` + hi, "tools[1].function.name"},
		{"tool no object", `{"tools":["f"]}`, "tools[0]"},
		{"custom tool without name", `{"tools":[{"type":"custom","custom":{}}]}`, "tools[0].custom.name"},
		{"strictness in words", `{"tools":[{"type":"function","function":{"name":"f","strict":"yes"}}]}`, "tools[0].function.strict"},
		{"description a list", `{"tools":[{"type":"function","function":{"name":"f","description":[]}}]}`, "tools[0].function.description"},
		{"stream in words", `{"stream":"yes"}`, "stream"},
		{"stream a number", `{"stream":1}`, "stream"},
		{"tokens in words", `{"max_tokens":"many"}`, "max_tokens"},
		{"tokens with a point", `{"max_completion_tokens":10.0}`, "max_completion_tokens"},
		{"stop a number", `{"stop":7}`, "stop"},
		{"stops that are numbers", `{"stop":["a",7]}`, "stop[1]"},
		{"a bias in words", `{"logit_bias":{"50256":"never"}}`, "logit_bias.50256"},
		{"usage in words", `{"stream_options":{"include_usage":"yes"}}`, "stream_options.include_usage"},
		{"name a number", `{"messages":[{"role":"user","name":7,"content":"x"}]}`, "messages[0].name"},
		{"role a number", `{"messages":[{"role":7,"content":"x"}]}`, "messages[0].role"},
		{"calls no list", `{"messages":[{"role":"assistant","tool_calls":{}}]}`, "messages[0].tool_calls"},
		{"type a number", user + `[{"type":7}]}]}`, "messages[0].content[0].type"},
		{"format in a word", `{"response_format":"json_object"}`, "response_format"},
		{"strict format in words", `{"response_format":{"type":"json_schema","json_schema":{"schema":{},"strict":"yes"}}}`, "response_format.json_schema.strict"},
		{"format without schema", `{"response_format":{"type":"json_schema","json_schema":{"name":"x"}}}`, "response_format.json_schema.schema"},
	}
	for _, c := range cases {
		_, err := chat{}.DecodeCall([]byte(c.body))
		if f := fault.From(err); f == nil || f.Code != fault.InvalidParameter || f.Param != c.param {
			t.Errorf("%s: %v, want a refusal of %s", c.name, err, c.param)
		}
	}
}

// What a caller may leave open is no wrong type: nulls, numbers of either kind, words that
// are new, and tools whose names only their provider knows.
func TestCallsAccepted(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"stream":null,"max_tokens":null,"stop":null,"metadata":null,"response_format":null,"tool_choice":null,"tools":null`,
		`{"temperature":1,"top_p":0.5e0,"n":1,"seed":-7,"stop":"x","logit_bias":{"1":-100},"reasoning_effort":"utmost","new_member":[{}]`,
		`{"stop":["a","b"],"stream_options":{"include_usage":null,"newer":1},"function_call":"auto","functions":[]`,
		`{"tools":[{"type":"google_search"}],"tool_choice":{"type":"function","function":{"name":"whatever"}}`,
		`{"tools":[{"type":"custom","custom":{"name":"sql"}}],"tool_choice":{"type":"custom","custom":{"name":"sql"}}`,
		`{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`,
	} {
		if _, err := (chat{}).DecodeCall([]byte(body + `,"messages":[{"role":"user","content":"x","name":null}]}`)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// FuzzDecodeCall: nothing that a caller may send makes it panic, what is refused is
// refused with a place, and what is read can be written.
func FuzzDecodeCall(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x"}],"name":1}],"stream":"yes"}`))
	f.Add([]byte(`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{"}}]}],"tools":[{"type":"function","function":{"name":"f","strict":0}},{"type":"custom","custom":{}}],"tool_choice":{"type":"function","function":{"name":"g"}}}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}],"stop":[1],"logit_bias":{"\u0000":""},"stream_options":{"include_usage":-},"max_tokens":1e3,"response_format":{"type":"json_schema","json_schema":{"schema":{},"strict":1}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := chat{}.DecodeCall(body)
		if err != nil {
			if e := fault.From(err); e.Code != fault.InvalidParameter || e.Param == "" {
				t.Errorf("%v", err)
			}
			return
		}
		if !jsonedit.Valid(body) {
			return
		}
		out, err := chat{}.EncodeCall(context.Background(), c, &dialect.Target{Model: "m"})
		if err == nil && !jsonedit.Valid(out.Body) {
			t.Errorf("no JSON: %s", out.Body)
		}
	})
}
