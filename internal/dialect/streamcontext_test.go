package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/llm"
)

// lateErrors are events in the middle of a stream, by the providers that write them, that say that
// the conversation is too long.
var lateErrors = map[string]string{
	"vLLM":             `data: {"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.","type":"BadRequestError","param":null,"code":400}}`,
	"vLLM, flat":       `data: {"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`,
	"llama.cpp":        `data: {"error":{"code":400,"message":"request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":5012,"n_ctx":4096}}`,
	"LM Studio":        "event: error\n" + `data: {"error":{"message":"Trying to keep the first 5012 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}}`,
	"TGI":              `data: {"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens` must be <= 4096" + `","error_type":"validation"}`,
	"Anthropic":        "event: error\n" + `data: {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`,
	"behind an id":     `data: {"id":"c","object":"chat.completion.chunk","error":{"message":"Input is too long for requested model.","code":"400"},"choices":[]}`,
	"a named type":     "event: error\n" + `data: {"type":"error","error":{"type":"api_error","message":"maximum context length exceeded"}}`,
	"OpenAI responses": `data: {"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input","sequence_number":3}`,
}

// firstEvents are how a stream of each surface begins.
var firstEvents = map[llm.Endpoint]string{
	llm.ChatComplete:        `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n",
	llm.Messages:            "event: message_start\n" + `data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n",
	llm.CreateModelResponse: "event: response.created\n" + `data: {"type":"response.created","sequence_number":0,"response":{"id":"r"}}` + "\n\n",
}

// message is the error that the last event of a stream holds.
type message struct{ Type, Message, Code string }

func lastError(t *testing.T, stream string) (e message) {
	t.Helper()
	_, data, _ := strings.Cut(stream[strings.LastIndex(strings.TrimSpace(stream), "\n\n")+2:], "data: ")
	var got struct {
		message
		Error *message
	}
	if err := json.Unmarshal([]byte(data), &got); err != nil {
		t.Fatalf("%v in %s", err, stream)
	}
	if got.Error != nil {
		return *got.Error
	}
	return got.message
}

// An error that comes late has the same code and the same words as one that is the whole answer,
// however the stream is cut into reads, and keeps its numbers.
func TestLateContextErrorsHaveOneCode(t *testing.T) {
	t.Parallel()
	for name, event := range lateErrors {
		for ep, first := range firstEvents {
			for _, o := range []dialect.StreamOptions{{Endpoint: ep}, {Endpoint: ep, CollectText: true}} {
				for _, size := range []int{1, 7, 1 << 20} {
					if name == "behind an id" && size < 1<<20 && !o.CollectText { // its beginning is relayed as it comes
						continue
					}
					s := dialect.NewStream(o)
					var out []byte
					for left := first + event + "\n\n"; left != ""; {
						n := min(size, len(left))
						out = append(out, s.Feed([]byte(left[:n]))...)
						left = left[n:]
					}
					out = append(out, s.End().Tail...)
					got := lastError(t, string(out))
					messages := ep == llm.Messages && (got.Type != "invalid_request_error" || !strings.Contains(got.Message, "prompt is too long"))
					if got.Code != "context_length_exceeded" || messages || !strings.HasPrefix(string(out), first) {
						t.Errorf("%s on %s in reads of %d: %s", name, ep, size, out)
					}
					if name == "llama.cpp" && !strings.Contains(string(out), `"n_prompt_tokens":5012,"n_ctx":4096`) {
						t.Errorf("%s: without the numbers: %s", ep, out)
					}
					if name == "llama.cpp" && ep == llm.Messages && !strings.Contains(got.Message, "prompt is too long: 5012 tokens > 4096 maximum: request exceeds") {
						t.Errorf("on messages: %s", out)
					}
				}
			}
		}
	}
}

// Other late errors keep their code.
func TestOtherLateErrorsKeepTheirCode(t *testing.T) {
	t.Parallel()
	const event = `data: {"error":{"message":"Request too large on tokens per minute, context window","type":"tokens","code":"throttled"}}`
	for ep, first := range firstEvents {
		s := dialect.NewStream(dialect.StreamOptions{Endpoint: ep})
		out := string(s.Feed([]byte(first + event + "\n\n")))
		if got := lastError(t, out); got.Code != "throttled" || strings.Contains(got.Message, "prompt is too long") {
			t.Errorf("%s: %s", ep, out)
		}
	}
}

// The same holds where a decoder read the error.
func TestTranslatedContextErrorsHaveOneCode(t *testing.T) {
	t.Parallel()
	const data = `{"error":{"code":400,"message":"request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":5012,"n_ctx":4096}}`
	for surface, client := range surfaces {
		ev, _ := upstreamerror.ReadEvent([]byte(data))
		upstreamerror.Reword(surface, &ev)
		enc := client.NewEncoder(&dialect.ResponseContext{Call: &llm.Call{Surface: surface}, ID: "01"})
		out := string(enc.Append(enc.Append(nil, &llm.Event{Kind: llm.EventStart}), &ev))
		if !strings.Contains(out, `"code":"context_length_exceeded"`) || strings.Contains(out, `"server_error"`) || !strings.Contains(out, `"n_prompt_tokens":5012,"n_ctx":4096`) {
			t.Errorf("%s: %s", surface, out)
		}
		if surface == llm.Messages && !strings.Contains(out, `"type":"invalid_request_error","message":"prompt is too long: 5012 tokens > 4096 maximum: request`) {
			t.Errorf("messages: %s", out)
		}
	}
	ev := llm.Event{Kind: llm.EventFault, Text: "Input is too long for requested model.", Name: "validationException", Status: 400}
	upstreamerror.Reword(llm.Messages, &ev)
	if ev.ID != upstreamerror.ContextCode || ev.Name != "invalid_request_error" || ev.Text != "prompt is too long: Input is too long for requested model." {
		t.Errorf("of Bedrock: %+v", ev)
	}
}
