package openai

import (
	"testing"

	"sluice/internal/fault"
)

// What no target could carry is refused with the place of it.
func TestCallsRefused(t *testing.T) {
	t.Parallel()
	user := `{"model":"m","messages":[{"role":"user","content":`
	call := `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
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
		{"format without schema", `{"response_format":{"type":"json_schema","json_schema":{"name":"x"}}}`, "response_format.json_schema.schema"},
	}
	for _, c := range cases {
		_, err := chat{}.DecodeCall([]byte(c.body))
		if f := fault.From(err); f == nil || f.Code != fault.InvalidParameter || f.Param != c.param {
			t.Errorf("%s: %v, want a refusal of %s", c.name, err, c.param)
		}
	}
}
