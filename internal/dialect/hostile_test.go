package dialect_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/cohere"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/oracle"
	"sluice/internal/dialect/responses"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/workersai"
	"sluice/internal/kernel/llm"
)

// hostiles are events of providers, of which a test puts some in any order: I stands for a place,
// C for a choice, ID for the id of a call. The last ones end the stream.
var hostiles = map[string]struct {
	upstream   dialect.Upstream
	pool, last []string
}{
	"anthropic": {anthropic.Dialect().Upstreams[llm.Messages], []string{
		`{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":1}}}`,
		`{"type":"ping"}`,
		`{"type":"content_block_start","index":I,"content_block":{"type":"text","text":"a"}}`,
		`{"type":"content_block_start","index":I,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_start","index":I,"content_block":{"type":"tool_use","id":"ID","name":"f","input":{}}}`,
		`{"type":"content_block_start","index":I,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`,
		`{"type":"content_block_start","index":I,"content_block":{"type":"redacted_thinking","data":"d"}}`,
		`{"type":"content_block_delta","index":I,"delta":{"type":"text_delta","text":"b"}}`,
		`{"type":"content_block_delta","index":I,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`,
		`{"type":"content_block_delta","index":I,"delta":{"type":"thinking_delta","thinking":"h"}}`,
		`{"type":"content_block_delta","index":I,"delta":{"type":"signature_delta","signature":"s"}}`,
		`{"type":"content_block_stop","index":I}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
	}, []string{
		`{"type":"message_stop"}`,
	}},
	"gemini": {gemini.Dialect().Upstreams[llm.ChatComplete], []string{
		`{"candidates":[{"index":C,"content":{"parts":[{"text":"a"}]}}]}`,
		`{"candidates":[{"index":C,"content":{"parts":[{"text":"h","thought":true,"thoughtSignature":"c2ln"}]}}]}`,
		`{"candidates":[{"index":C,"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}}]}`,
		`{"candidates":[{"index":C,"content":{"parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"},{"text":"x"}]},"finishReason":"STOP"}]}`,
		`{"candidates":[{"index":C,"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}}]}`,
		`{"candidates":[{"index":C,"content":{"parts":[{"executableCode":{"code":"x"}}]}}]}`,
		`{"candidates":[{"index":C,"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}]}}]}`,
		`{"usageMetadata":{"promptTokenCount":1}}`,
		`{"promptFeedback":{"blockReason":"SAFETY"}}`,
	}, []string{
		`{"candidates":[{"index":0,"finishReason":"STOP"}]}`,
		`{"candidates":[{"index":1,"finishReason":"STOP"}]}`,
	}},
	"cohere": {cohere.Dialect().Upstreams[llm.ChatComplete], []string{
		`{"type":"message-start","id":"c"}`,
		`{"type":"content-start","index":I,"delta":{"message":{"content":{"type":"text","text":""}}}}`,
		`{"type":"content-delta","index":I,"delta":{"message":{"content":{"text":"a"}}}}`,
		`{"type":"content-delta","index":I,"delta":{"message":{"content":{"thinking":"a"}}}}`,
		`{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"p"}}}`,
		`{"type":"tool-call-start","index":I,"delta":{"message":{"tool_calls":{"id":"ID","function":{"name":"f","arguments":""}}}}}`,
		`{"type":"tool-call-delta","index":I,"delta":{"message":{"tool_calls":{"function":{"arguments":"{}"}}}}}`,
		`{"type":"tool-call-end","index":I}`,
		`{"type":"citation-start","delta":{"message":{"citations":{"text":"x"}}}}`,
	}, []string{
		`{"type":"message-end","delta":{"finish_reason":"COMPLETE"}}`,
	}},
	"oracle": {oracle.Dialect().Upstreams[llm.ChatComplete], []string{
		`{"index":C,"message":{"content":[{"type":"TEXT","text":"a"}]}}`,
		`{"index":C,"message":{"reasoningContent":"h"}}`,
		`{"index":C,"message":{"toolCalls":[{"id":"ID","name":"f","arguments":"{"}]}}`,
		`{"index":C,"message":{"toolCalls":[{"name":"f","arguments":"{"}]}}`,
		`{"index":C,"message":{"toolCalls":[{"arguments":"}"}]}}`,
		`{"index":C,"finishReason":"stop"}`,
		`{"usage":{"promptTokens":1}}`,
		`{"apiFormat":"COHERE","toolCalls":[{"name":"f","parameters":{}}]}`,
		`{"apiFormat":"COHERE","text":"a"}`,
	}, []string{
		`{"index":0,"finishReason":"stop"}`,
	}},
	"workers": {workersai.Dialect().Upstreams[llm.ChatComplete], []string{
		`{"response":"a"}`,
		`{"tool_calls":[{"name":"f","arguments":{"a":1}}]}`,
		`{"choices":[{"delta":{"content":"a"}}]}`,
		`{"choices":[{"delta":{"reasoning_content":"a"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":I,"id":"ID","function":{"name":"f","arguments":"{"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":I,"function":{"arguments":"}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}]}`,
	}, []string{
		`[DONE]`,
	}},
	"responses": {responses.Upstream(), []string{
		`{"type":"response.created","response":{"id":"r","model":"m"}}`,
		`{"type":"response.output_item.added","output_index":I,"item":{"type":"function_call","call_id":"ID","name":"f","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","output_index":I,"delta":"{}"}`,
		`{"type":"response.output_item.done","output_index":I,"item":{"type":"function_call","call_id":"ID","name":"f","arguments":"{}"}}`,
		`{"type":"response.output_text.delta","output_index":I,"content_index":0,"delta":"a"}`,
		`{"type":"response.refusal.delta","output_index":I,"content_index":0,"delta":"a"}`,
		`{"type":"response.content_part.done","output_index":I,"content_index":0,"part":{"type":"output_text","text":"a"}}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":I,"summary_index":1,"delta":"h"}`,
		`{"type":"response.output_item.done","output_index":I,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"h"}],"encrypted_content":"e"}}`,
		`{"type":"response.output_item.done","output_index":I,"item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}`,
		`{"type":"response.output_item.done","output_index":I,"item":{"type":"web_search_call","id":"w"}}`,
		`{"type":"response.output_item.done","output_index":I,"item":{"type":"image_generation_call","id":"w","result":"aGk="}}`,
	}, []string{
		`{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}`,
	}},
}

// Whatever a provider sends and in whichever order, what callers get has the grammar of their
// surface, or the stream is refused.
func TestGrammarOfHostileStreams(t *testing.T) {
	t.Parallel()
	for name, p := range hostiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				var events []string
				for range rapid.IntRange(1, 12).Draw(t, "events") {
					index := rapid.SampledFrom([]string{"0", "0", "1", "2"}).Draw(t, "place")
					events = append(events, strings.NewReplacer(
						":I,", ":"+index+",", ":I}", ":"+index+"}", ":C,", ":"+rapid.SampledFrom([]string{"0", "0", "1"}).Draw(t, "choice")+",",
						"ID", rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"),
					).Replace(rapid.SampledFrom(p.pool).Draw(t, "event")))
				}
				stream := "data: " + strings.Join(append(events, p.last...), "\n\ndata: ") + "\n\n"
				strict := rapid.Bool().Draw(t, "strict")
				for surface, client := range surfaces {
					out, complete := translateStream(p.upstream, client, surface, stream, strict)
					if err := grammars[surface](out); complete && err != nil {
						t.Fatalf("%s: %v\n%s\nof\n%s", surface, err, out, stream)
					}
				}
			})
		})
	}
}

// translateStream is a stream on a surface, and whether it came to its end.
func translateStream(upstream dialect.Upstream, client dialect.Client, surface llm.Endpoint, stream string, strict bool) (out []byte, complete bool) {
	enc := client.NewEncoder(&dialect.ResponseContext{Call: &llm.Call{Surface: surface, Model: "m"}, ID: "0123456789abcdef0123456789", Strict: strict})
	signer, dec := signatures.NewSigner(surface), upstream.NewDecoder(&dialect.Incoming{To: &dialect.Target{}})
	put := func(ev *llm.Event) {
		complete = complete || ev.Kind == llm.EventEnd
		signer.Event(ev, func(ev *llm.Event) { out = enc.Append(out, ev) })
	}
	if dec.Feed([]byte(stream), put) != nil || dec.Close(put) != nil {
		return out, false
	}
	return out, complete
}
