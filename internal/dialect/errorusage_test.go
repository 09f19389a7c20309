package dialect_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/registry"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/llm"
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
		{"oracle", "oracle", llm.ChatComplete, `data: {"code":"InternalServerError","message":"m","usage":{"promptTokens":70,"completionTokens":1400,"totalTokens":1470}}` + "\n\n"},
		{"oracle, cohere", "oracle", llm.ChatComplete, `data: {"apiFormat":"COHERE","text":"Hel"}` + "\n\n" + `data: {"apiFormat":"COHERE","text":"","finishReason":"ERROR","errorMessage":"m","usage":{"promptTokens":70,"completionTokens":1400,"totalTokens":1470}}` + "\n\n"},
		{"oracle, after the count", "oracle", llm.ChatComplete, `data: {"index":0,"message":{"role":"ASSISTANT","content":[{"type":"TEXT","text":"Hel"}]}}` + "\n\n" + `data: {"usage":{"promptTokens":70,"completionTokens":1400,"totalTokens":1470}}` + "\n\n" + `data: {"code":"InternalServerError","message":"m"}` + "\n\n"},
		{"bedrock, an exception after the count", "bedrock", llm.ChatComplete, frames("event", "messageStart", `{"role":"assistant"}`, "event", "metadata", `{"usage":{"inputTokens":70,"outputTokens":1400,"totalTokens":1470},"metrics":{"latencyMs":1}}`, "exception", "modelStreamErrorException", `{"message":"m"}`)},
		{"bedrock, an exception with the count", "bedrock", llm.ChatComplete, frames("event", "messageStart", `{"role":"assistant"}`, "exception", "modelStreamErrorException", `{"message":"m","usage":{"inputTokens":70,"outputTokens":1400,"totalTokens":1470}}`)},
		{"workers ai", "workers-ai", llm.ChatComplete, `data: {"errors":[{"code":3030,"message":"m"}],"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}` + "\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var up dialect.Upstream
			for _, d := range registry.List() {
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
			dec := up.NewDecoder(&dialect.Incoming{Call: &llm.Call{}, To: &dialect.Target{Model: "m"}})
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

// frames is an event stream of Amazon: of each message its type, its name and its payload.
func frames(triples ...string) string {
	var out []byte
	for i := 0; i < len(triples); i += 3 {
		typ, name, payload := triples[i], triples[i+1], triples[i+2]
		var headers []byte
		for _, h := range [][2]string{{":" + typ + "-type", name}, {":message-type", typ}} {
			headers = append(append(append(headers, byte(len(h[0]))), h[0]...), 7)
			headers = append(binary.BigEndian.AppendUint16(headers, uint16(len(h[1]))), h[1]...)
		}
		b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
		b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
		b = append(append(b, headers...), payload...)
		out = append(out, binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))...)
	}
	return string(out)
}

// So is a whole answer that reports an error, whatever its provider calls what it counted.
func TestUsageOfFailedAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"openai":                    `{"error":{"message":"m"},"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}`,
		"groq":                      `{"error":{"message":"m"},"x_groq":{"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}}`,
		"responses":                 `{"id":"r","status":"failed","error":{"message":"m"},"usage":{"input_tokens":70,"output_tokens":1400,"total_tokens":1470}}`,
		"responses, in an event":    `{"type":"response.failed","response":{"error":{"message":"m"},"usage":{"input_tokens":70,"output_tokens":1400,"total_tokens":1470}}}`,
		"anthropic":                 `{"type":"error","error":{"type":"api_error","message":"m"},"usage":{"input_tokens":70,"output_tokens":1400}}`,
		"gemini":                    `{"error":{"code":503,"message":"m"},"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":1400,"totalTokenCount":1470}}`,
		"gemini, in a list":         ` [{"error":{"code":503,"message":"m"},"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":1400,"totalTokenCount":1470}}]`,
		"bedrock":                   `{"message":"m","usage":{"inputTokens":70,"outputTokens":1400,"totalTokens":1470}}`,
		"cohere":                    `{"message":"m","usage":{"billed_units":{"input_tokens":70,"output_tokens":1400},"tokens":{"input_tokens":70,"output_tokens":1400}}}`,
		"oracle":                    `{"code":"InternalServerError","message":"m","usage":{"promptTokens":70,"completionTokens":1400,"totalTokens":1470}}`,
		"oracle, a model's failure": `{"modelId":"c","chatResponse":{"apiFormat":"COHERE","finishReason":"ERROR","errorMessage":"m","usage":{"promptTokens":70,"completionTokens":1400,"totalTokens":1470}}}`,
		"workers ai":                `{"result":{"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}},"success":false,"errors":[{"code":3030,"message":"m"}]}`,
	} {
		if u := upstreamerror.Usage([]byte(body)); u == nil || u.InputTokens != 70 || u.OutputTokens != 1400 {
			t.Errorf("%s: %+v", name, u)
		}
	}
	for _, body := range []string{``, `[]`, `null`, `{"error":{"message":"m"}}`, `{"result":[]}`, `{"error":{"message":"\"usage\":{\"prompt_tokens\":70}"}}`} {
		if u := upstreamerror.Usage([]byte(body)); u != nil {
			t.Errorf("%s: %+v", body, u)
		}
	}
}
