package registry_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/registry"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// forged is the name of a member that would be two, were it not escaped.
const forged = `"a\":1,\"forged\":1,\"b"`

// forgeries are calls with such names wherever a caller may put names of its own.
var forgeries = map[llm.Endpoint]string{
	llm.ChatComplete: `{"model":"m","max_tokens":2000,@:1,"output_config":{@:1},"metadata":{@:"x"},"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object",@:1}}},` +
		`"additionalModelRequestFields":{@:1},"extra_body":{@:1},"stream_options":{@:1},"logit_bias":{@:1},"generation_config":{@:1},` +
		`"messages":[{"role":"user",@:1,"content":[{"type":"text","text":"hi",@:1},{"type":"image_url",@:1,"image_url":{"url":"data:image/png;base64,aGk=",@:1}}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1",@:1,"type":"function","function":{"name":"f","arguments":"{}",@:1}}]},{"role":"tool","tool_call_id":"c1","content":"x"}],` +
		`"tools":[{"type":"function",@:1,"function":{"name":"f",@:1,"parameters":{"type":"object",@:1,"properties":{@:{"type":"string"}}}}},{"type":"web_search","web_search":{"name":"web_search_20250305",@:1}}]}`,
	llm.Messages: `{"model":"m","max_tokens":2000,@:1,"output_config":{"effort":"low",@:1},"metadata":{"user_id":"u",@:"x"},"thinking":{"type":"disabled",@:1},` +
		`"system":[{"type":"text","text":"s",@:1}],` +
		`"messages":[{"role":"user",@:1,"content":[{"type":"text","text":"hi",@:1},{"type":"image",@:1,"source":{"type":"base64","media_type":"image/png","data":"aGk=",@:1}}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{@:1},@:1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x",@:1}]}],` +
		`"tools":[{"name":"f",@:1,"input_schema":{"type":"object",@:1,"properties":{@:{"type":"string"}}}},{"type":"web_search_20250305","name":"web_search",@:1}]}`,
	llm.CreateModelResponse: `{"model":"m","max_output_tokens":2000,@:1,"metadata":{@:"x"},"reasoning":{"effort":"low",@:1},"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object",@:1}},@:1},` +
		`"input":[{"role":"user",@:1,"content":[{"type":"input_text","text":"hi",@:1},{"type":"input_image","image_url":"data:image/png;base64,aGk=",@:1}]},` +
		`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}",@:1},{"type":"function_call_output","call_id":"c1","output":"x",@:1}],` +
		`"tools":[{"type":"function","name":"f",@:1,"parameters":{"type":"object",@:1,"properties":{@:{"type":"string"}}}}]}`,
}

// A name that a caller makes up is a name in the provider's request, whatever letters it has: no
// member that the gateway has not judged comes out of it.
func TestNamesOfCallers(t *testing.T) {
	t.Parallel()
	clients := map[llm.Endpoint]dialect.Client{}
	for _, d := range registry.List() {
		for ep, c := range d.Clients {
			clients[ep] = c
		}
	}
	encoded := 0
	for surface, body := range forgeries {
		body = strings.ReplaceAll(body, "@", forged)
		if !jsonedit.Valid([]byte(body)) {
			t.Fatalf("%s is no JSON", body)
		}
		for _, d := range registry.List() {
			for ep, up := range d.Upstreams {
				for _, model := range []string{"claude-opus-4-5", "gpt-5", "anthropic.claude-opus-4-5", "amazon.nova-pro-v1:0", "cohere.command-r", "gemini-3-pro"} {
					c, err := clients[surface].DecodeCall([]byte(body))
					if err != nil {
						t.Fatalf("%s: %v", surface, err)
					}
					out, err := up.EncodeCall(t.Context(), c, &dialect.Target{Endpoint: ep, Provider: d.Name, Model: model, Rules: &dialect.RequestRules{}, Value: func(string) string { return "" }})
					if err != nil {
						continue // refused
					}
					encoded++
					if b := string(out.Body); !jsonedit.Valid(out.Body) || strings.Contains(b, `"forged"`) {
						t.Errorf("%s at %s, %s: %s", surface, d.Name, model, b)
					}
				}
			}
		}
	}
	if encoded < 50 {
		t.Errorf("%d calls only", encoded)
	}
}
