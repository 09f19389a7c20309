package bedrock_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// decode reads an answer of a model.
func decode(model, body string, head ...wire.Field) (*llm.Response, error) {
	return bedrock.Dialect().Upstreams[llm.ChatComplete].DecodeResponse(&dialect.Incoming{
		Status: 200, Header: head, Body: []byte(body), To: &dialect.Target{Model: model},
	})
}

// The answer is the one of Amazon's API reference, with more kinds of blocks.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, read 2026-11.
func TestDecodeReply(t *testing.T) {
	t.Parallel()
	got, err := decode(sonnet, `{"additionalModelResponseFields":{"stop_sequence":"END"},"metrics":{"latencyMs":1275},"output":{"message":{"content":[
		{"reasoningContent":{"reasoningText":{"signature":"EqoB","text":"think"}}},{"reasoningContent":{"redactedContent":"AAEC"}},
		{"text":"Hello "},{"citationsContent":{"citations":[{"title":"t"}],"content":[{"text":"cited "},{"text":"text"}]}},
		{"toolUse":{"input":{"city":"Rome"},"name":"get_weather","toolUseId":"tooluse_1"}},{"image":{"format":"png","source":{"bytes":"QQ=="}}},
		{"toolUse":{"type":"server_tool_use","toolUseId":"s","name":"nova_grounding","input":{}}}],"role":"assistant"}},
		"serviceTier":{"type":"flex"},"stopReason":"stop_sequence","usage":{"cacheReadInputTokens":40,"cacheWriteInputTokens":10,"cacheDetails":[{"ttl":"5m","inputTokens":4},{"ttl":"1h","inputTokens":6}],"inputTokens":125,"outputTokens":60,"totalTokens":235}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Response{
		Choices: []llm.Choice{{
			Parts: []llm.Part{
				{Kind: llm.ReasoningPart, Text: "think", Signature: "EqoB", Shape: "anthropic"},
				{Kind: llm.SealedPart, Text: "AAEC", Shape: "anthropic"},
				{Text: "Hello "},
				{Text: "cited text", Citations: []byte(`[{"title":"t"}]`), Shape: "bedrock"},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "tooluse_1", Name: "get_weather", Arguments: `{"city":"Rome"}`}},
				{Kind: llm.ImagePart, Media: &llm.Media{MIME: "image/png", Data: "QQ=="}},
				{Kind: llm.OpaquePart, Shape: "bedrock", Raw: []byte(`{"toolUse":{"type":"server_tool_use","toolUseId":"s","name":"nova_grounding","input":{}}}`)},
			},
			Finish: llm.FinishStop, Raw: "stop_sequence", StopText: "END",
		}},
		Usage: llm.Usage{InputTokens: 175, OutputTokens: 60, TotalTokens: 235, CachedTokens: 40, CacheWriteTokens: 10, CacheHourTokens: 6, Tier: "flex", Reported: true},
		Extra: []llm.Param{{Name: "additionalModelResponseFields", Raw: []byte(`{"stop_sequence":"END"}`)}, {Name: "service_tier", Raw: []byte(`"flex"`)}},
	}
	if diff := dialecttest.DiffResponses(want, got); len(diff) > 0 {
		t.Error(strings.Join(diff, "\n"))
	}
}

func TestFinishReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]llm.Finish{
		"end_turn": llm.FinishStop, "tool_use": llm.FinishToolCalls, "max_tokens": llm.FinishLength, "model_context_window_exceeded": llm.FinishLength,
		"guardrail_intervened": llm.FinishFilter, "content_filtered": llm.FinishFilter, "malformed_tool_use": llm.FinishStop, "something_new": llm.FinishStop,
	} {
		r, err := decode(sonnet, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"`+reason+`"}`)
		if err != nil || r.Choices[0].Finish != want || r.Choices[0].Raw != reason {
			t.Errorf("%s: %+v, %v", reason, r, err)
		}
	}
}

// A turn that failed and has nothing to use is an error, before anything is said of it, so that
// another target may be tried.
func TestFailedTurnsWithoutContentAreErrors(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"malformed_tool_use", "malformed_model_output"} {
		for _, content := range []string{`[]`, `[{"text":""}]`, `[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}}]`} {
			r, err := decode(sonnet, `{"output":{"message":{"role":"assistant","content":`+content+`}},"stopReason":"`+reason+`"}`)
			if f := fault.From(err); err == nil || f.HTTPStatus() != 502 || f.Wire != reason {
				t.Errorf("%s, %s: %+v, %v", reason, content, r, err)
			}
		}
		for _, usage := range []bool{true, false} {
			stream := events("messageStart", `{"role":"assistant"}`, "messageStop", `{"stopReason":"`+reason+`"}`)
			if usage {
				stream = append(stream, events("metadata", `{"usage":{"inputTokens":4,"outputTokens":2},"serviceTier":{"type":"flex"}}`)...)
			}
			all, _, err := kinds(t, stream)
			last := all[len(all)-1]
			if err != nil || last.Kind != llm.EventFault || last.Status != 502 || last.Name != reason || !strings.HasSuffix(last.Text, reason) {
				t.Errorf("%s streamed: %+v, %v", reason, all, err)
			}
			if usage && (len(all) != 2 || all[0].Kind != llm.EventUsage) || !usage && len(all) != 1 {
				t.Errorf("%s: something was said before the error: %+v", reason, all)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `[]`, `{}`, `{"output":{}}`, `{"output":{"message":{"content":"text"}}}`, `<html>`} {
		if r, err := decode(sonnet, body); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %+v, %v", body, r, err)
		}
	}
	if r, err := decode("cohere.command-text-v14", `{"message":"x"}`); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Old models of Cohere and AI21 chat in lines of text.
func TestFlatChat(t *testing.T) {
	t.Parallel()
	chat := `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"},{"role":"user","content":"Bye"}],` +
		`"max_completion_tokens":9,"stop":"x","top_k":2,"presence_penalty":0.5,"stream":true,"seed":1,"tools":[{"type":"function","function":{"name":"w"}}]}`
	prompt := `"prompt":"system: Be brief.\nuser: Hello\nassistant: Hi\nuser: Bye\nAssistant:"`
	for model, want := range map[string]string{
		"cohere.command-text-v14:7:4k": `{` + prompt + `,"max_tokens":9,"k":2,"presence_penalty":0.5,"end_sequences":["x"],"stream":true}`,
		"ai21.j2-ultra-v1":             `{` + prompt + `,"maxTokens":9,"presencePenalty":{"scale":0.5},"stopSequences":["x"]}`,
	} {
		out, err := encode(t, &dialect.Target{Model: model}, chat)
		if err != nil || string(out.Body) != want || out.Dropped[0] != "tools[0]" {
			t.Errorf("%s: %s, lost %q, %v", model, out.Body, out.Dropped, err)
		}
	}
	r, err := decode("cohere.command-text-v14", `{"generations":[{"finish_reason":"MAX_TOKENS","id":"a","text":" one"},{"finish_reason":"ERROR_TOXIC","text":"two"}],"id":"e7f1","prompt":"p"}`,
		wire.Field{Name: "x-amzn-bedrock-input-token-count", Value: "5"}, wire.Field{Name: "x-amzn-bedrock-output-token-count", Value: "7"})
	want := &llm.Response{ID: "e7f1", Usage: llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, Reported: true}, Choices: []llm.Choice{
		{Parts: []llm.Part{{Text: " one"}}, Finish: llm.FinishLength, Raw: "MAX_TOKENS"},
		{Index: 1, Parts: []llm.Part{{Text: "two"}}, Finish: llm.FinishFilter, Raw: "ERROR_TOXIC"},
	}}
	if err != nil {
		t.Fatal(err)
	}
	if diff := dialecttest.DiffResponses(want, r); len(diff) > 0 {
		t.Error(strings.Join(diff, "\n"))
	}
}
