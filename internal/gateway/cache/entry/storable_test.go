package entry_test

import (
	"strings"
	"testing"

	"sluice/internal/gateway/cache/entry"
	"sluice/internal/kernel/llm"
)

func TestOnlyCompleteSuccessesAreStored(t *testing.T) {
	t.Parallel()
	const chat, responses = llm.ChatComplete, llm.CreateModelResponse
	good := `{"choices":[{"finish_reason":"stop","message":{"content":"a","refusal":null}}],"error":null}`
	for _, c := range []struct {
		name string
		in   entry.Candidate
		want entry.Reason
	}{
		{"chat", entry.Candidate{Endpoint: chat, Status: 200, Body: []byte(good)}, ""},
		{"chat with tool calls", body(chat, `{"choices":[{"finish_reason":"tool_calls"}]}`), ""},
		{"chat at max_tokens", body(chat, `{"choices":[{"finish_reason":"length"}]}`), ""},
		{"rate limit", entry.Candidate{Endpoint: chat, Status: 429, Body: []byte(good)}, entry.ReasonStatus},
		{"objection of a guardrail", entry.Candidate{Endpoint: chat, Status: 246, Body: []byte(good)}, entry.ReasonStatus},
		{"cut", entry.Candidate{Endpoint: chat, Status: 200, Body: []byte(good), Cut: true}, entry.ReasonCut},
		{"error event", entry.Candidate{Endpoint: chat, Status: 200, Body: []byte(good), Failed: true}, entry.ReasonError},
		{"empty", body(chat, ``), entry.ReasonSize},
		{"large", body(chat, good+strings.Repeat(" ", 200)), entry.ReasonSize},
		{"HTML", body(chat, `<html>`), entry.ReasonInvalid},
		{"half of the JSON", body(chat, good[:40]), entry.ReasonInvalid},
		{"no choices", body(chat, `{"choices":[]}`), entry.ReasonInvalid},
		{"error in the body", body(chat, `{"error":{"message":"x"},"choices":[{"finish_reason":"stop"}]}`), entry.ReasonError},
		{"error in a choice", body(chat, `{"choices":[{"error":{"code":502},"finish_reason":"stop"}]}`), entry.ReasonError},
		{"filtered", body(chat, `{"choices":[{"finish_reason":"stop"},{"finish_reason":"content_filter"}]}`), entry.ReasonFiltered},
		{"refused", body(chat, `{"choices":[{"finish_reason":"stop","message":{"refusal":"No."}}]}`), entry.ReasonFiltered},
		{"no finish reason", body(chat, `{"choices":[{"finish_reason":null}]}`), entry.ReasonPartial},
		{"unknown finish reason", body(chat, `{"choices":[{"finish_reason":"insufficient_system_resource"}]}`), entry.ReasonPartial},
		{"completion", body(llm.Complete, `{"choices":[{"finish_reason":"stop","text":"a"}]}`), ""},
		{"message", body(llm.Messages, `{"type":"message","stop_reason":"tool_use"}`), ""},
		{"message refused", body(llm.Messages, `{"type":"message","stop_reason":"refusal"}`), entry.ReasonFiltered},
		{"message paused", body(llm.Messages, `{"type":"message","stop_reason":"pause_turn"}`), entry.ReasonPartial},
		{"message cut", body(llm.Messages, `{"type":"message","stop_reason":null}`), entry.ReasonPartial},
		{"message error", body(llm.Messages, `{"type":"error","error":{}}`), entry.ReasonError},
		{"no message", body(llm.Messages, `{"stop_reason":"end_turn"}`), entry.ReasonInvalid},
		{"response", body(responses, `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text"}]}]}`), ""},
		{"response refused", body(responses, `{"status":"completed","output":[{"content":[{"type":"refusal"}]}]}`), entry.ReasonFiltered},
		{"response failed", body(responses, `{"status":"failed","error":null}`), entry.ReasonError},
		{"response incomplete", body(responses, `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`), entry.ReasonPartial},
		{"response filtered", body(responses, `{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`), entry.ReasonFiltered},
		{"response in the background", body(responses, `{"status":"queued","output":[]}`), entry.ReasonPartial},
		{"embedding", body(llm.Embed, `{"data":[{"embedding":[1]}]}`), ""},
		{"no embedding", body(llm.Embed, `{"data":[]}`), entry.ReasonInvalid},
		{"rerank of Voyage", body(llm.Rerank, `{"data":[{}]}`), ""},
		{"audio", body(llm.CreateSpeech, "ID3"), ""},
	} {
		if got := entry.Storable(&c.in, 200); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func body(ep llm.Endpoint, text string) entry.Candidate {
	return entry.Candidate{Endpoint: ep, Status: 200, Body: []byte(text)}
}
