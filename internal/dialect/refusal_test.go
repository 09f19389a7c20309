package dialect_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/llm"
)

// refusals are answers that say no, in the words of who gives them, whole and as the data of a
// stream's events.
var refusals = map[string]struct {
	upstream dialect.Upstream
	buffered string
	events   []string
	filtered bool // by a filter, which no part of the answer tells
}{
	"chat": {
		openai.Dialect().Upstreams[llm.ChatComplete],
		`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I will not."}}]}`,
		[]string{`{"choices":[{"index":0,"delta":{"refusal":"I will "}}]}`, `{"choices":[{"index":0,"delta":{"refusal":"not."}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`},
		false,
	},
	"responses": {
		responses.Upstream(),
		`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I will not."}]}]}`,
		[]string{
			`{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}`,
			`{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"refusal","refusal":""}}`,
			`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"I will not."}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"I will not."}]}}`,
			`{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}`,
		},
		false,
	},
	"messages": {
		anthropic.Dialect().Upstreams[llm.Messages],
		`{"type":"message","content":[],"stop_reason":"refusal"}`,
		[]string{`{"type":"message_start","message":{"id":"m"}}`, `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, `{"type":"message_stop"}`},
		true,
	},
	"filter of chat": {
		openai.Dialect().Upstreams[llm.ChatComplete],
		`{"choices":[{"index":0,"finish_reason":"content_filter","message":{"role":"assistant","content":""}}]}`,
		[]string{`{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, `[DONE]`},
		true,
	},
	"filter of gemini": {
		gemini.Dialect().Upstreams[llm.ChatComplete],
		`{"candidates":[{"finishReason":"SAFETY","index":0}]}`,
		[]string{`{"candidates":[{"finishReason":"SAFETY","index":0}]}`},
		true,
	},
	"prompt that gemini does not take": {
		gemini.Dialect().Upstreams[llm.ChatComplete],
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`,
		[]string{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`},
		true,
	},
}

// An answer that says no says so on every surface: on messages by its stop_reason, on chat and
// responses by a refusal where the model wrote one, and as filtered where it did not. In a
// stream as in one piece.
func TestRefusalsAreToldOnEverySurface(t *testing.T) {
	t.Parallel()
	clients := map[llm.Endpoint]dialect.Client{
		llm.ChatComplete: openai.Dialect().Clients[llm.ChatComplete], llm.Messages: anthropic.Dialect().Clients[llm.Messages],
		llm.CreateModelResponse: responses.Client(),
	}
	for name, from := range refusals {
		wants := map[llm.Endpoint][]string{
			llm.ChatComplete: {`"refusal":"I will`, `"finish_reason":"stop"`}, llm.Messages: {`I will`, `"stop_reason":"refusal"`},
			llm.CreateModelResponse: {`"refusal":"I will not."`, `"status":"completed"`},
		}
		if from.filtered {
			wants = map[llm.Endpoint][]string{
				llm.ChatComplete: {`"finish_reason":"content_filter"`}, llm.Messages: {`"stop_reason":"refusal"`},
				llm.CreateModelResponse: {`"status":"incomplete"`, `"incomplete_details":{"reason":"content_filter"}`},
			}
		}
		for surface, client := range clients {
			incoming := &dialect.Incoming{Call: &llm.Call{Surface: surface}, To: &dialect.Target{}, Body: []byte(from.buffered)}
			a := &dialect.ResponseContext{Call: incoming.Call, ID: "01", Strict: true}
			r, err := from.upstream.DecodeResponse(incoming)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			buffered := string(client.EncodeResponse(nil, r, a))
			var streamed []byte
			enc, dec := client.NewEncoder(a), from.upstream.NewDecoder(incoming)
			emit := func(ev *llm.Event) { streamed = enc.Append(streamed, ev) }
			if err := dec.Feed([]byte("data: "+strings.Join(from.events, "\n\ndata: ")+"\n\n"), emit); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := dec.Close(emit); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, want := range wants[surface] {
				if !strings.Contains(buffered, want) {
					t.Errorf("%s to %s: no %s in %s", name, surface, want, buffered)
				}
				if !strings.Contains(string(streamed), want) {
					t.Errorf("%s to %s, streamed: no %s in %s", name, surface, want, streamed)
				}
			}
		}
	}
}
