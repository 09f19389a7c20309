package dialect_test

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/all"
	"sluice/internal/llm"
)

// An event that reports an error is read whole before it is judged: the usage in it counts, in
// the words of every provider.
func TestUsageOfFailedStreams(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, dialect string
		ep            llm.Endpoint
		stream        string
	}{
		{"openai", "openai", llm.ChatComplete, `data: {"error":{"message":"m","code":502},"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}` + "\n\n"},
		{"openai, usage before the error", "openai", llm.ChatComplete, `data: {"id":"c","choices":[],"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}` + "\n\n" + `data: {"error":{"message":"m"}}` + "\n\n"},
		{"openrouter", "openai", llm.ChatComplete, `data: {"id":"c","object":"chat.completion.chunk","model":"m","error":{"code":"server_error","message":"m"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}` + "\n\n"},
		{"groq", "openai", llm.ChatComplete, `data: {"error":{"message":"m"},"x_groq":{"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}}` + "\n\n"},
		{"an error that is named", "openai", llm.ChatComplete, "event: error\n" + `data: {"code":500,"message":"m","usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}` + "\n\n"},
		{"responses, failed", "openai", llm.CreateModelResponse, `data: {"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_error","message":"m"},"usage":{"input_tokens":70,"output_tokens":1400,"total_tokens":1470}}}` + "\n\n"},
		{"responses, failed without a reason", "openai", llm.CreateModelResponse, `data: {"type":"response.failed","response":{"id":"r","status":"failed","error":null,"usage":{"input_tokens":70,"output_tokens":1400,"total_tokens":1470}}}` + "\n\n"},
		{"responses, incomplete", "openai", llm.CreateModelResponse, `data: {"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":70,"output_tokens":1400,"total_tokens":1470}}}` + "\n\n"},
		{"anthropic, after the count", "anthropic", llm.Messages, `data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":70,"output_tokens":1}}}` + "\n\n" + `data: {"type":"message_delta","delta":{},"usage":{"output_tokens":1400}}` + "\n\n" + "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"m"}}` + "\n\n"},
		{"gemini", "gemini", llm.ChatComplete, `data: {"error":{"code":503,"message":"m","status":"UNAVAILABLE"},"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":1400,"totalTokenCount":1470}}` + "\n\n"},
		{"gemini, a blocked prompt", "gemini", llm.ChatComplete, `data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":1400,"totalTokenCount":1470}}` + "\n\n"},
		{"cohere", "cohere", llm.ChatComplete, `data: {"type":"message-start","id":"c"}` + "\n\n" + `data: {"type":"message-end","delta":{"error":"m","usage":{"tokens":{"input_tokens":70,"output_tokens":1400}}}}` + "\n\n"},
		{"workers ai", "workers-ai", llm.ChatComplete, `data: {"errors":[{"code":3030,"message":"m"}],"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}` + "\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var up dialect.Upstream
			for _, d := range all.List() {
				if d.Name == c.dialect {
					up = d.Upstreams[c.ep]
				}
			}
			if up == nil {
				t.Fatalf("%s has no upstream for %s", c.dialect, c.ep)
			}
			var u llm.Usage
			note := func(ev *llm.Event) {
				if ev.Usage != nil {
					u = *ev.Usage
				}
			}
			dec := up.NewDecoder(&dialect.Incoming{Call: &llm.Call{}, To: &dialect.Target{}})
			if err := dec.Feed([]byte(c.stream), note); err != nil {
				t.Fatal(err)
			}
			if err := dec.Close(note); err != nil {
				t.Fatal(err)
			}
			if u.InputTokens != 70 || u.OutputTokens != 1400 {
				t.Errorf("usage %+v", u)
			}
		})
	}
}
