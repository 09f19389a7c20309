package openai_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/llm"
)

// A finish reason in every chunk, as some servers send it, loses nothing of what follows: neither
// the rest of a tool call nor that of a text.
func TestFinishReasonInEveryChunk(t *testing.T) {
	t.Parallel()
	chunk := func(delta, finish string) string {
		return `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":"` + finish + `"}]}` + "\n\n"
	}
	const usage = `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}` + "\n\n"
	call := func(fields string) string { return `{"tool_calls":[{"index":0,` + fields + `}]}` }
	for name, stream := range map[string]string{
		"repeated":             chunk(`{"content":"He"}`, "stop") + chunk(`{"content":"llo"}`, "stop") + chunk(call(`"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\""}`), "stop") + chunk(call(`"function":{"arguments":":1}"}`), "tool_calls") + usage + "data: [DONE]\n\n",
		"without the mark":     chunk(`{"content":"Hello"}`, "stop") + chunk(call(`"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":"}`), "tool_calls") + chunk(call(`"function":{"arguments":"1}"}`), "tool_calls") + usage,
		"usage in each, too":   strings.ReplaceAll(chunk(`{"content":"Hello"}`, "stop")+chunk(call(`"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":"}`), "tool_calls")+chunk(call(`"function":{"arguments":"1}"}`), "tool_calls"), `"model":"m",`, `"model":"m","usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5},`) + "data: [DONE]\n\n",
		"one at the end alone": strings.ReplaceAll(chunk(`{"content":"Hello"}`, "")+chunk(call(`"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}`), ""), `"finish_reason":""`, `"finish_reason":null`) + chunk(`{}`, "tool_calls") + usage + "data: [DONE]\n\n",
	} {
		events, err := dialecttest.Read(openai.Dialect().Upstreams[llm.ChatComplete].NewDecoder(nil), []byte(stream))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := &llm.Response{
			ID: "1", Model: "m",
			Choices: []llm.Choice{{Finish: llm.FinishToolCalls, Raw: "tool_calls", Parts: []llm.Part{
				{Text: "Hello"}, {Kind: llm.CallPart, Call: &llm.ToolCall{ID: "a", Name: "f", Arguments: `{"a":1}`}},
			}}},
			Usage: llm.Usage{InputTokens: 3, OutputTokens: 2, TotalTokens: 5, Reported: true},
		}
		if diff := dialecttest.DiffResponses(want, dialecttest.ResponseOf(events)); diff != nil {
			t.Errorf("%s: %s", name, strings.Join(diff, "\n"))
		}
		finishes := 0
		for _, ev := range events {
			if ev.Kind == llm.EventFinish {
				finishes++
			}
		}
		if finishes != 1 {
			t.Errorf("%s: %d ends of the choice", name, finishes)
		}
	}
}
