package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/llm"
)

// claudeBlocks are the thoughts of one answer of Claude as each provider reports and takes them:
// one that is signed and not shown, one that is redacted and one in words.
func claudeBlocks() []struct{ provider, model, response, sent string } {
	const anthropicBlocks = `{"type":"thinking","thinking":"","signature":"ErUB"},{"type":"redacted_thinking","data":"EmwK"},{"type":"thinking","thinking":"hm","signature":"EqQB"}`
	return []struct{ provider, model, response, sent string }{
		{"anthropic", "claude-opus-5-5", `{"type":"message","role":"assistant","content":[` + anthropicBlocks + `,{"type":"text","text":"hi"}],"stop_reason":"end_turn"}`, anthropicBlocks},
		{
			"bedrock", "anthropic.claude-opus-5-5",
			`{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"","signature":"ErUB"}}},{"reasoningContent":{"redactedContent":"EmwK"}},{"reasoningContent":{"reasoningText":{"text":"hm","signature":"EqQB"}}},{"text":"hi"}]}},"stopReason":"end_turn","usage":{}}`,
			`{"reasoningContent":{"reasoningText":{"text":"","signature":"ErUB"}}},{"reasoningContent":{"redactedContent":"EmwK"}},{"reasoningContent":{"reasoningText":{"text":"hm","signature":"EqQB"}}}`,
		},
		{
			"openrouter", "anthropic/claude-opus-5.5",
			`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi","reasoning_details":[{"type":"reasoning.text","text":"","signature":"ErUB","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1","index":1},{"type":"reasoning.text","text":"hm","signature":"EqQB","format":"anthropic-claude-v1","index":2}]}}]}`,
			`{"type":"reasoning.text","signature":"ErUB","format":"anthropic-claude-v1","text":"","index":0},{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1","index":1},{"type":"reasoning.text","signature":"EqQB","format":"anthropic-claude-v1","text":"hm","index":2}`,
		},
	}
}

// A thought that Claude signs without showing it stays a thought, and a redacted one stays
// redacted, on every surface: Anthropic refuses a turn in which one became the other.
// Source: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, read 2026-11.
func TestSignedThoughtsWithoutTextStayThoughts(t *testing.T) {
	t.Parallel()
	upstreams := map[string]dialect.Upstream{
		"anthropic": anthropic.Dialect().Upstreams[llm.ChatComplete], "bedrock": bedrock.Dialect().Upstreams[llm.ChatComplete], "openrouter": openai.Dialect().Upstreams[llm.ChatComplete],
	}
	for surface, client := range surfaces {
		for _, from := range claudeBlocks() {
			next := nextCall(t, surface, client, thinker{"anthropic", from.model, upstreams[from.provider], from.response})
			for _, to := range claudeBlocks() {
				c, err := client.DecodeCall(next)
				if err != nil {
					t.Fatalf("%s, %s: %v", surface, from.provider, err)
				}
				out, err := upstreams[to.provider].EncodeCall(t.Context(), c, &dialect.Target{Model: to.model, Value: func(string) string { return "" }, Rules: &dialect.RequestRules{ReasoningField: dialect.ReasoningInDetails}})
				if err != nil {
					t.Fatalf("%s, %s to %s: %v", surface, from.provider, to.provider, err)
				}
				if !strings.Contains(string(out.Body), to.sent) {
					t.Errorf("%s, %s to %s: sent\n%s\nwant in it\n%s\nafter %s", surface, from.provider, to.provider, out.Body, to.sent, next)
				}
			}
		}
	}
}

// The same holds for streams: the last event of a streamed response has what a whole one has.
func TestSignedThoughtsWithoutTextStayThoughtsInStreams(t *testing.T) {
	t.Parallel()
	const stream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ErUB"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwK"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`
	upstream := anthropic.Dialect().Upstreams[llm.ChatComplete]
	call := &llm.Call{Surface: llm.CreateModelResponse, Model: "claude-opus-5-5"}
	signer := signatures.NewSigner(call.Surface)
	encoder := surfaces[call.Surface].NewEncoder(&dialect.ResponseContext{Call: call, ID: "01"})
	var sent []byte
	decoder := upstream.NewDecoder(&dialect.Incoming{Call: call})
	if err := decoder.Feed([]byte(stream), func(ev *llm.Event) {
		signer.Event(ev, func(ev *llm.Event) { sent = encoder.Append(sent, ev) })
	}); err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(string(sent), "event: response.completed\ndata: ")
	var completed struct{ Response map[string]any }
	if err := json.Unmarshal([]byte(last), &completed); err != nil {
		t.Fatalf("%v\n%s", err, sent)
	}
	body, err := json.Marshal(nextRequest[call.Surface](completed.Response))
	if err != nil {
		t.Fatal(err)
	}
	c, err := surfaces[call.Surface].DecodeCall(body)
	if err != nil {
		t.Fatal(err)
	}
	out, err := upstream.EncodeCall(t.Context(), c, &dialect.Target{Model: call.Model, Value: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"thinking","thinking":"","signature":"ErUB"},{"type":"redacted_thinking","data":"EmwK"}`
	if !strings.Contains(string(out.Body), want) {
		t.Errorf("sent %s\nafter %s", out.Body, body)
	}
}
