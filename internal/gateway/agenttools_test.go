package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// agentCall is what a coding agent that speaks responses sends: tools in a namespace, one
// that takes free text, and one that OpenAI runs.
const agentCall = `{"model":"claude-sonnet-4-5","stream":true,"input":[
	{"role":"user","content":"Go on"},
	{"type":"function_call","call_id":"c1","namespace":"agents","name":"close","arguments":"{\"id\":1}"},
	{"type":"custom_tool_call","call_id":"c2","name":"patch","input":"+a \"b\""},
	{"type":"function_call_output","call_id":"c1","output":"closed"},
	{"type":"custom_tool_call_output","call_id":"c2","output":"done"}],
	"tools":[
	{"type":"namespace","name":"agents","description":"Other agents","tools":[{"type":"function","name":"close","parameters":{"type":"object"}},{"type":"function","name":"wait"}]},
	{"type":"custom","name":"patch","description":"Edits files","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},
	{"type":"web_search","external_web_access":true}]}`

// A coding agent has all its tools at a provider of another shape, and gets their calls in
// its own words.
func TestToolsOfAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	event := func(data string) string {
		return "event: " + strings.Split(data, `"`)[3] + "\ndata: " + data + "\n\n"
	}
	tool := func(index, name string, fragments ...string) (list []string) {
		list = append(list, event(`{"type":"content_block_start","index":`+index+`,"content_block":{"type":"tool_use","id":"toolu_`+index+`","name":"`+name+`","input":{}}}`))
		for _, p := range fragments {
			list = append(list, event(`{"type":"content_block_delta","index":`+index+`,"delta":{"type":"input_json_delta","partial_json":"`+p+`"}}`))
		}
		return append(list, event(`{"type":"content_block_stop","index":`+index+`}`))
	}
	responseEvents := []string{event(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":4,"output_tokens":1}}}`)}
	responseEvents = append(responseEvents, tool("0", "agents__wait", `{\"id\":`, `2}`)...)
	responseEvents = append(responseEvents, tool("1", "patch", `{\"input\": \"*** Be`, `gin\\`, `n\\u00e9\"`, `}`)...)
	responseEvents = append(responseEvents, event(`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`), event(`{"type":"message_stop"}`))
	r.up.Handle("/messages", upstream.Always(events(responseEvents...)))

	anthropic := []string{"x-gateway-provider: anthropic", "authorization: Bearer upstream", "x-gateway-custom-host: " + r.up.URL()}
	a := r.call("POST", "/v1/responses", agentCall, anthropic...)
	if a.StatusCode != 400 || !strings.Contains(a.Text, `"param":"tools[2].type"`) || !strings.Contains(a.Text, "web_search") || len(r.up.Seen()) != 0 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	a = r.call("POST", "/v1/responses", agentCall, append(anthropic, "x-gateway-strict-params: false")...)
	if got := a.Header.Get("x-gateway-dropped-params"); a.StatusCode != 200 || !strings.Contains(got, "tools[2]") {
		t.Fatalf("%d, dropped %q: %s", a.StatusCode, got, a.Text)
	}
	sent := string(r.up.Seen()[0].Body)
	for _, want := range []string{
		`"name":"agents__close"`, `"name":"agents__wait"`, `"name":"patch","description":"Edits files\n\ninput follows this grammar (lark):\nstart: x","input_schema":{"type":"object","properties":{"input":{"type":"string"}}`,
		`{"type":"tool_use","id":"c1","name":"agents__close","input":{"id":1}}`, `{"type":"tool_use","id":"c2","name":"patch","input":{"input":"+a \"b\""}}`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("not sent: %s\nin %s", want, sent)
		}
	}
	for _, want := range []string{
		`"type":"function_call","status":"completed","call_id":"toolu_0","name":"wait","namespace":"agents","arguments":"{\"id\":2}"`,
		`"type":"custom_tool_call","status":"completed","call_id":"toolu_1","name":"patch","input":"*** Begin\né"`,
		`"type":"response.custom_tool_call_input.delta"`, `"delta":"*** Be"`,
		`"tools":[{"type":"namespace","name":"agents","description":"Other agents","tools":[`,
	} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("not answered: %s\nin %s", want, a.Text)
		}
	}
	if n := strings.Count(a.Text[strings.LastIndex(a.Text, "response.completed"):], `"type":"namespace"`); n != 1 {
		t.Errorf("the namespace is repeated %d times", n)
	}
}

// Providers of chat completions other than OpenAI have functions only, too.
func TestFreeTextOnChat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(events(
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c9","function":{"name":"patch","arguments":"{\"input\":\"a"}}]}}]}`+"\n\n",
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"b\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\n"+"data: [DONE]\n\n",
	)))
	a := r.call("POST", "/v1/responses", agentCall, "x-gateway-provider: deepseek", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL(), "x-gateway-strict-params: false")
	if a.StatusCode != 200 || !strings.Contains(a.Text, `"call_id":"c9","name":"patch","input":"ab"`) {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	sent := string(r.up.Seen()[0].Body)
	if strings.Contains(sent, `"custom"`) || !strings.Contains(sent, `"function":{"name":"patch","arguments":"{\"input\":\"+a \\\"b\\\"\"}"}`) || !strings.Contains(sent, `"name":"patch","description":"Edits files`) {
		t.Errorf("sent %s", sent)
	}
}
