package bedrock_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func TestClaudeRequest(t *testing.T) {
	t.Parallel()
	up := bedrock.Claude().Unified[llm.Messages]
	const rest = `"max_tokens":9,"messages":[ {"role":"user","content":"\u0061"} ],"x":1.50`
	for _, c := range []struct{ name, body, beta, version, want string }{
		{"model and stream go", `{"model":"m","stream":true,` + rest + `}`, "", "2023-06-01", `{` + rest + `,"anthropic_version":"bedrock-2023-05-31"}`},
		{"a version of Bedrock's", `{` + rest + `}`, "", "bedrock-2099-01-01", `{` + rest + `,"anthropic_version":"bedrock-2099-01-01"}`},
		{"the caller's own version", `{"anthropic_version":"v",` + rest + `}`, "", "", `{"anthropic_version":"v",` + rest + `}`},
		{
			"flags of the header win", `{"anthropic_beta":["c"],` + rest + `}`, "a-1, skills-2025-10-02,message-threads-2026-08-12,advanced-tool-use-2025-11-20", "",
			`{` + rest + `,"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["a-1","tool-search-tool-2025-10-19"]}`,
		},
		{"flags of the body", `{"anthropic_beta":["c"],` + rest + `}`, "", "", `{` + rest + `,"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["c"]}`},
		{
			"what others signed", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"__thought__gemini:CpQB"},{"type":"tool_use","id":"call_1__thought__CpQB","name":"f","input":{}}]}]}`, "", "",
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":{}}]}],"anthropic_version":"bedrock-2023-05-31"}`,
		},
		{
			"a tool that streams eagerly", `{"tools":[{"name":"f","input_schema":{"eager_input_streaming":true},"eager_input_streaming":true},{"name":"g","eager_input_streaming":false}],` + rest + `}`, "a-1", "",
			`{"tools":[{"name":"f","input_schema":{"eager_input_streaming":true}},{"name":"g"}],` + rest + `,"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["a-1","fine-grained-tool-streaming-2025-05-14"]}`,
		},
		{
			"tools that do not", `{"tools":[{"name":"f","eager_input_streaming":false}, 7],` + rest + `}`, "", "",
			`{"tools":[{"name":"f"},7],` + rest + `,"anthropic_version":"bedrock-2023-05-31"}`,
		},
		{
			"the flag is there already", `{"tools":[{"name":"f","eager_input_streaming":true}],` + rest + `}`, "fine-grained-tool-streaming-2025-05-14", "",
			`{"tools":[{"name":"f"}],` + rest + `,"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["fine-grained-tool-streaming-2025-05-14"]}`,
		},
		{
			"a cache for all", `{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}],"cache_control":{"type":"ephemeral"}}`, "", "",
			`{"messages":[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}],"anthropic_version":"bedrock-2023-05-31"}`,
		},
		{
			"a cache for all, on the last block that can have a mark", `{"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"thinking","thinking":"c","signature":"s"}]}]}`, "", "",
			`{"messages":[{"role":"assistant","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"thinking","thinking":"c","signature":"s"}]}],"anthropic_version":"bedrock-2023-05-31"}`,
		},
		{
			"a cache for all that has its mark", `{"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}`, "", "",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]}],"anthropic_version":"bedrock-2023-05-31"}`,
		},
		{"no cache", `{"cache_control":null,` + rest + `}`, "", "", `{` + rest + `,"anthropic_version":"bedrock-2023-05-31"}`},
		{
			"a cache for nothing", `{"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":[7]},{"role":"user","content":""}]}`, "", "",
			`{"messages":[{"role":"user","content":[7]},{"role":"user","content":""}],"anthropic_version":"bedrock-2023-05-31"}`,
		},
		{"flags as a text", `{"anthropic_beta":"c,d",` + rest + `}`, "", "", `{` + rest + `,"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["c","d"]}`},
	} {
		to := &dialect.Target{Model: sonnet, Value: values(map[string]string{"anthropic_beta": c.beta, "anthropic_version": c.version})}
		out, err := up.EncodeRequest(t.Context(), &dialect.Request{Body: []byte(c.body)}, to)
		if err != nil || string(out.Body) != c.want || len(out.Dropped) > 0 {
			t.Errorf("%s: %s, %v", c.name, out.Body, err)
		}
	}
	if _, err := up.EncodeRequest(t.Context(), &dialect.Request{}, &dialect.Target{}); !fault.Has(err, fault.InvalidRequest) {
		t.Errorf("nothing: %v", err)
	}
}

// Claude on Bedrock takes no strict tools any more.
func TestClaudeStrict(t *testing.T) {
	t.Parallel()
	up := bedrock.Claude().Unified[llm.Messages]
	const body = `{"tools":[{"name":"f","strict":true},{"name":"g","strict":false,"input_schema":{"strict":true}},{"name":"h"}]}`
	for model, want := range map[string]string{
		"us.anthropic.claude-opus-4-7": `{"tools":[{"name":"f"},{"name":"g","input_schema":{"strict":true}},{"name":"h"}],"anthropic_version":"bedrock-2023-05-31"} [tools[0].strict]`,
		"us.anthropic.claude-sonnet-5": `{"tools":[{"name":"f"},{"name":"g","input_schema":{"strict":true}},{"name":"h"}],"anthropic_version":"bedrock-2023-05-31"} [tools[0].strict]`,
		sonnet:                         body[:len(body)-1] + `,"anthropic_version":"bedrock-2023-05-31"} []`,
	} {
		out, err := up.EncodeRequest(t.Context(), &dialect.Request{Body: []byte(body)}, &dialect.Target{Model: model, Value: values(nil)})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %v", out.Body, out.Dropped); got != want {
			t.Errorf("%s: %s", model, got)
		}
	}
}

func TestClaudeAnswer(t *testing.T) {
	t.Parallel()
	up := bedrock.Claude().Unified[llm.Messages]
	const body = `{ "id":"msg_bdrk_1","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":5}}`
	a, err := up.TranslateResponse(&dialect.Incoming{Body: []byte(body)})
	if err != nil || string(a.Body) != body || a.Model != "claude-sonnet-4-5" || a.Usage.InputTokens != 7 || a.Usage.OutputTokens != 5 {
		t.Errorf("%+v, %v", a, err)
	}
	for _, none := range []string{`<html>`, `{"message":"Throttled"}`, `{"content":7}`} {
		if _, err := up.TranslateResponse(&dialect.Incoming{Body: []byte(none)}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s is taken for an answer: %v", none, err)
		}
	}
	stream, err := os.ReadFile("../testdata/invoke.bin")
	if err != nil {
		t.Fatal(err)
	}
	s := up.(dialect.Streamer).NewStream(&dialect.Incoming{})
	out, err := s.Append(nil, stream)
	if err != nil || !strings.HasPrefix(string(out), "event: message_start\ndata: {") || strings.Count(string(out), "\n\n") != 6 {
		t.Errorf("%s, %v", out, err)
	}
}

func TestInvokedClaude_GetsOnlyTheMarksThatItAccepts(t *testing.T) {
	t.Parallel()
	up := bedrock.Claude().Unified[llm.Messages]
	const (
		global = `"cache_control":{"type":"ephemeral","ttl":"1h","scope":"global"}`
		body   = `{"system":[{"type":"text","text":"s",` + global + `}],"tools":[{"name":"f","cache_control":{"type":"ephemeral","ttl":"5m"}}],` +
			`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"r",` + global + `}]}]}]}`
	)
	sent := func(system, tool string) string {
		return `{"system":[{"type":"text","text":"s"` + system + `}],"tools":[{"name":"f"` + tool + `}],` +
			`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"r"` + system + `}]}]}],"anthropic_version":"bedrock-2023-05-31"}`
	}
	for model, want := range map[string]string{
		sonnet: sent(mark1h, `,"cache_control":{"type":"ephemeral","ttl":"5m"}`) +
			` [system[0].cache_control.scope messages[0].content[0].content[0].cache_control.scope]`,
		"anthropic.claude-sonnet-4-20250514-v1:0": sent(mark5m, mark5m) +
			` [system[0].cache_control.scope system[0].cache_control.ttl messages[0].content[0].content[0].cache_control.scope messages[0].content[0].content[0].cache_control.ttl]`,
		"anthropic.claude-3-haiku-20240307-v1:0": sent("", "") +
			` [tools[0].cache_control system[0].cache_control messages[0].content[0].content[0].cache_control]`,
	} {
		out, err := up.EncodeRequest(t.Context(), &dialect.Request{Body: []byte(body)}, &dialect.Target{Model: model, Value: values(nil)})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %v", out.Body, out.Dropped); got != want {
			t.Errorf("%s:\n got %s\nwant %s", model, got, want)
		}
	}
}

// The line that coding agents write for Anthropic's accounts differs with every call, and Amazon
// rejects it.
func TestInvokedClaude_GetsTheSamePrefixInEveryTurn(t *testing.T) {
	t.Parallel()
	up := bedrock.Claude().Unified[llm.Messages]
	var bodies []string
	for _, nonce := range []string{"71fea", "0aaa9"} {
		body := `{"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.117.48f; cch=` + nonce + `;"},{"type":"text","text":"You code."}],"messages":[{"role":"user","content":"q"}]}`
		out, err := up.EncodeRequest(t.Context(), &dialect.Request{Body: []byte(body)}, &dialect.Target{Model: sonnet, Value: values(nil)})
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(out.Body))
	}
	if bodies[0] != bodies[1] || !strings.HasPrefix(bodies[0], `{"system":[{"type":"text","text":"You code."}],`) {
		t.Errorf("got %q", bodies)
	}
}
