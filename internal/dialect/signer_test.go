package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/responses"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// thinker is a provider and an answer of it with a thought that is signed.
type thinker struct {
	shape    string
	model    string
	upstream dialect.Upstream
	response string
}

// signature is one in the form of OpenAI's, which says whose it is where nobody is named.
const signature = "gAAAAABc2ln"

func thinkers() []thinker {
	return []thinker{
		{"anthropic", "claude-opus-4-5", anthropic.Dialect().Upstreams[llm.ChatComplete], `{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"` + signature + `"},{"type":"text","text":"hi"}],"stop_reason":"end_turn"}`},
		{"anthropic", "anthropic.claude-opus-4-5", bedrock.Dialect().Upstreams[llm.ChatComplete], `{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"` + signature + `"}}},{"text":"hi"}]}},"stopReason":"end_turn","usage":{}}`},
		{"gemini", "gemini-3-pro-preview", gemini.Dialect().Upstreams[llm.ChatComplete], `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true,"thoughtSignature":"` + signature + `"},{"text":"hi"}]},"finishReason":"STOP"}]}`},
		{"anthropic", "anthropic/claude-opus-4.5", openai.Dialect().Upstreams[llm.ChatComplete], `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"` + signature + `","format":"anthropic-claude-v1","index":0}]}}]}`},
		{"openrouter", "google/gemini-3-pro", openai.Dialect().Upstreams[llm.ChatComplete], `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"` + signature + `","format":"google-gemini-v1","index":0}]}}]}`},
		{"responses", "gpt-5", responses.Upstream(), `{"object":"response","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"` + signature + `"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}`},
	}
}

// nextRequest are what callers of a surface send behind an answer, with all that stood in it.
var nextRequest = map[llm.Endpoint]func(response map[string]any) map[string]any{
	llm.ChatComplete: func(response map[string]any) map[string]any {
		return map[string]any{"messages": []any{map[string]any{"role": "user", "content": "x"}, response["choices"].([]any)[0].(map[string]any)["message"], map[string]any{"role": "user", "content": "y"}}}
	},
	llm.Messages: func(response map[string]any) map[string]any {
		return map[string]any{"max_tokens": 9, "messages": []any{
			map[string]any{"role": "user", "content": "x"}, map[string]any{"role": "assistant", "content": response["content"]}, map[string]any{"role": "user", "content": "y"},
		}}
	},
	llm.CreateModelResponse: func(response map[string]any) map[string]any {
		return map[string]any{"input": append(append([]any{map[string]any{"role": "user", "content": "x"}}, response["output"].([]any)...), map[string]any{"role": "user", "content": "y"})}
	},
}

var surfaces = map[llm.Endpoint]dialect.Client{
	llm.ChatComplete: openai.Dialect().Clients[llm.ChatComplete], llm.Messages: anthropic.Dialect().Clients[llm.Messages], llm.CreateModelResponse: responses.Client(),
}

// What one provider signed goes back to it and to no other, whatever the caller speaks:
// others refuse a conversation with a signature that they do not know.
func TestSignaturesGoHome(t *testing.T) {
	t.Parallel()
	for surface, client := range surfaces {
		for _, from := range thinkers() {
			next := nextCall(t, surface, client, from)
			for _, to := range thinkers() {
				c, err := client.DecodeCall(next)
				if err != nil {
					t.Fatalf("%s, %s: %v\n%s", surface, from.model, err, next)
				}
				out, err := to.upstream.EncodeCall(t.Context(), c, &dialect.Target{Model: to.model, Value: func(string) string { return "" }, Rules: &dialect.RequestRules{ReasoningField: dialect.ReasoningInDetails}})
				if err != nil {
					t.Fatalf("%s, %s to %s: %v\n%s", surface, from.model, to.model, err, next)
				}
				if native := from.shape == to.shape; strings.Contains(string(out.Body), `"`+signature+`"`) != native || strings.Contains(string(out.Body), "__thought__") {
					t.Errorf("%s, %s to %s: sent %s\nafter %s", surface, from.model, to.model, out.Body, next)
				}
				if from.shape != to.shape && !strings.Contains(strings.Join(out.Dropped, " "), "[") {
					t.Errorf("%s, %s to %s: lost %q", surface, from.model, to.model, out.Dropped)
				}
			}
		}
	}
}

// Where the provider speaks the caller's shape, thoughts that it did not sign are taken out
// of the bytes.
func TestForeignThoughtsAreTakenOut(t *testing.T) {
	t.Parallel()
	native := map[llm.Endpoint]string{llm.Messages: "anthropic", llm.CreateModelResponse: "responses"}
	for surface, shape := range native {
		for _, from := range thinkers() {
			list := "messages"
			if surface == llm.CreateModelResponse {
				list = "input"
			}
			var body map[string]json.RawMessage
			if err := json.Unmarshal(nextCall(t, surface, surfaces[surface], from), &body); err != nil {
				t.Fatal(err)
			}
			sent := body[list]
			if turns := signatures.Unsigned(sent); turns != nil {
				sent = turns
			}
			if strings.Contains(string(sent), signature) != (from.shape == shape) || !strings.Contains(string(sent), `"hi"`) {
				t.Errorf("%s, %s: sent %s", surface, from.model, sent)
			}
		}
	}
}

// nextCall is what a caller sends behind the answer of a provider, which was one stream in
// as many pieces as it has bytes, or whole: both must come to the same.
func nextCall(t *testing.T, surface llm.Endpoint, client dialect.Client, from thinker) []byte {
	t.Helper()
	call := &llm.Call{Surface: surface}
	r, err := from.upstream.DecodeResponse(&dialect.Incoming{Body: []byte(from.response), Call: call, To: &dialect.Target{Model: from.model}})
	if err != nil {
		t.Fatalf("%s: %v", from.model, err)
	}
	signer, streamed := signatures.NewSigner(surface), ""
	gather := func(ev *llm.Event) {
		if ev.Kind == llm.EventSignature && ev.Block == 0 {
			streamed += ev.Text
		}
	}
	dialect.Replay(r, func(ev *llm.Event) {
		if ev.Kind != llm.EventSignature {
			signer.Event(ev, gather)
			return
		}
		for _, char := range strings.Split(ev.Text, "") {
			one := *ev
			one.Text = char
			signer.Event(&one, gather)
		}
	})
	signatures.NewSigner(surface).RewriteResponse(r)
	if got := r.Choices[0].Parts[0].Signature; got != streamed {
		t.Errorf("%s, %s: %q whole and %q in pieces", surface, from.model, got, streamed)
	}
	var m map[string]any
	if err := json.Unmarshal(client.EncodeResponse(nil, r, &dialect.ResponseContext{Call: call, ID: "01"}), &m); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(nextRequest[surface](m))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// A message that was nothing but such thoughts goes with them.
func TestMessagesOfForeignThoughts(t *testing.T) {
	t.Parallel()
	const user = `{"role":"user","content":"x"}`
	sent := signatures.Unsigned([]byte(`[` + user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"__thought__:"}]},` + user + `,{"role":"assistant","content":[]}]`))
	if want := `[` + user + `,` + user + `,{"role":"assistant","content":[]}]`; string(sent) != want {
		t.Errorf("sent %s", sent)
	}
}

// Thoughts that nobody signed go to no provider that wants signatures, neither in its own
// words nor translated, and stay what they are for one that wants none.
func TestUnsignedThoughts(t *testing.T) {
	t.Parallel()
	from := thinker{"", "deepseek-reasoner", openai.Dialect().Upstreams[llm.ChatComplete], `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","reasoning_content":"hm","content":"hi"}}]}`}
	for _, surface := range []llm.Endpoint{llm.Messages, llm.CreateModelResponse} {
		next := nextCall(t, surface, surfaces[surface], from)
		list, _ := jsonedit.Find(next, map[llm.Endpoint]string{llm.Messages: "messages", llm.CreateModelResponse: "input"}[surface])
		if sent := signatures.Unsigned(list); strings.Contains(string(sent), "hm") || !strings.Contains(string(sent), `"hi"`) {
			t.Errorf("%s: sent %s", surface, sent)
		}
		c, err := surfaces[surface].DecodeCall(next)
		if err != nil {
			t.Fatal(err)
		}
		if p := c.Messages[1].Parts[0]; p.Kind != llm.ReasoningPart || p.Text != "hm" || p.Signature != "" || p.Shape != "" {
			t.Errorf("%s: read %+v", surface, p)
		}
	}
}

// The end of a thought that nobody signed comes behind a signature that says so; others come as
// they are.
func TestUnsignedStreams(t *testing.T) {
	t.Parallel()
	for surface, want := range map[llm.Endpoint]string{llm.Messages: "text __thought__: end text S end end", llm.ChatComplete: "text end text S end end"} {
		var got []string
		s := signatures.NewSigner(surface)
		for _, ev := range []llm.Event{
			{Kind: llm.EventText, Part: llm.ReasoningPart, Text: "text"}, {Kind: llm.EventBlockEnd, Part: llm.ReasoningPart, Text: "end"},
			{Kind: llm.EventText, Part: llm.ReasoningPart, Block: 1, Text: "text"}, {Kind: llm.EventSignature, Part: llm.ReasoningPart, Block: 1, Text: "S"}, {Kind: llm.EventBlockEnd, Part: llm.ReasoningPart, Block: 1, Text: "end"},
			{Kind: llm.EventBlockEnd, Part: llm.ReasoningPart, Block: 2, Text: "end"},
		} {
			s.Event(&ev, func(ev *llm.Event) { got = append(got, ev.Text) })
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", surface, got, want)
		}
	}
}
