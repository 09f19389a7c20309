package gemini

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/llm"
)

// signedTurn is an answer with a call for each signature, "" for none, behind a text.
func signedTurn(textSignature string, calls ...string) string {
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("candidates").Open('[')
	w.Open('{')
	w.Key("content").Open('{')
	w.Key("parts").Open('[')
	w.Open('{')
	w.Str("text", "I look.")
	w.Opt("thoughtSignature", textSignature)
	w.Close('}')
	for i, signature := range calls {
		w.Open('{')
		w.Key("functionCall").Open('{')
		w.Str("name", fmt.Sprintf("f%d", i))
		w.Raw("args", []byte(`{}`))
		w.Close('}')
		w.Opt("thoughtSignature", signature)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
	w.Str("finishReason", "STOP")
	w.Close('}')
	w.Close(']')
	w.Close('}')
	return string(w.B)
}

// encodeResponse is what a strict caller of a surface gets of an answer of Gemini, whole.
func encodeResponse(t *testing.T, c dialect.Client, body string) map[string]any {
	t.Helper()
	r, err := generate{}.DecodeResponse(&dialect.Incoming{Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	out := c.EncodeResponse(nil, r, &dialect.ResponseContext{Call: &llm.Call{}, ID: "01", Strict: true})
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return m
}

// nextTurns are what clients send next, as they do that know nothing of signatures: they
// keep what the surface has, and the ids of the calls.
var nextTurns = map[llm.Endpoint]func(response map[string]any) map[string]any{
	llm.ChatComplete: func(response map[string]any) map[string]any {
		message := response["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
		turns := []any{map[string]any{"role": "user", "content": "x"}, map[string]any{"role": "assistant", "content": message["content"], "tool_calls": message["tool_calls"]}}
		for _, call := range message["tool_calls"].([]any) {
			turns = append(turns, map[string]any{"role": "tool", "tool_call_id": call.(map[string]any)["id"], "content": "1"})
		}
		return map[string]any{"messages": turns}
	},
	llm.Messages: func(response map[string]any) map[string]any {
		var results []any
		for _, b := range response["content"].([]any) {
			if b := b.(map[string]any); b["type"] == "tool_use" {
				results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": "1"})
			}
		}
		return map[string]any{"max_tokens": 9, "messages": []any{
			map[string]any{"role": "user", "content": "x"}, map[string]any{"role": "assistant", "content": response["content"]}, map[string]any{"role": "user", "content": results},
		}}
	},
	llm.CreateModelResponse: func(response map[string]any) map[string]any {
		items := []any{map[string]any{"role": "user", "content": "x"}}
		var results []any
		for _, it := range response["output"].([]any) {
			items = append(items, it)
			if it := it.(map[string]any); it["type"] == "function_call" {
				results = append(results, map[string]any{"type": "function_call_output", "call_id": it["call_id"], "output": "1"})
			}
		}
		return map[string]any{"input": append(items, results...)}
	},
}

var clients = map[llm.Endpoint]dialect.Client{
	llm.ChatComplete:        openai.Dialect().Clients[llm.ChatComplete],
	llm.Messages:            anthropic.Dialect().Clients[llm.Messages],
	llm.CreateModelResponse: responses.Client(),
}

// Signatures of calls come back from strict callers of every surface, and those of texts
// from callers of messages and responses; ids are short again, and alike in calls and results.
func TestSignaturesComeBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for surface, client := range clients {
		for seed := range 60 {
			text, calls := "", make([]string, 1+r.IntN(3))
			if r.IntN(2) == 0 {
				text = randomSignature(r)
			}
			calls[0] = randomSignature(r)
			body, err := json.Marshal(nextTurns[surface](encodeResponse(t, client, signedTurn(text, calls...))))
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.DecodeCall(body)
			if err != nil {
				t.Fatalf("%s %d: %v\n%s", surface, seed, err, body)
			}
			out, err := generate{}.EncodeCall(t.Context(), c, &dialect.Target{Model: "gemini-3-pro-preview"})
			if err != nil || len(out.Dropped) > 0 {
				t.Fatalf("%s %d: %v, lost %q", surface, seed, err, out.Dropped)
			}
			if surface == llm.ChatComplete {
				text = ""
			}
			if got, want := signaturesIn(t, out.Body), append([]string{text}, calls...); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Fatalf("%s %d: sent %q, want %q\n%s", surface, seed, got, want, out.Body)
			}
			if strings.Contains(string(out.Body), "__thought__") {
				t.Fatalf("%s %d: the provider sees %s", surface, seed, out.Body)
			}
		}
	}
}

func randomSignature(r *rand.Rand) string {
	b := make([]byte, 1+r.IntN(90))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return media.Base64(b)
}

// signaturesIn are those of the model's parts in a request, in their order; each call
// must have its result.
func signaturesIn(t *testing.T, body []byte) []string {
	t.Helper()
	var m struct {
		Contents []struct {
			Role  string
			Parts []struct {
				ThoughtSignature               string
				FunctionCall, FunctionResponse *struct{ ID string }
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	var list, called, resulted []string
	for _, c := range m.Contents {
		for _, p := range c.Parts {
			if c.Role == "model" {
				list = append(list, p.ThoughtSignature)
			}
			if p.FunctionCall != nil {
				called = append(called, p.FunctionCall.ID)
			}
			if p.FunctionResponse != nil {
				resulted = append(resulted, p.FunctionResponse.ID)
			}
		}
	}
	if strings.Join(called, " ") != strings.Join(resulted, " ") {
		t.Errorf("calls %q, results %q", called, resulted)
	}
	return list
}

// A stream tells the same ids and blocks as the whole answer.
func TestStreamsAreSignedAlike(t *testing.T) {
	t.Parallel()
	const text, call = "dGV4dA==", "Y2FsbC8+"
	stream := "data: " + signedTurn(text, call) + "\n\n"
	for surface, want := range map[llm.Endpoint][]string{
		llm.ChatComplete:        {`__thought__Y2FsbC8-","type":"function"`},
		llm.Messages:            {`__thought__Y2FsbC8-","name":"f0"`, `{"type":"thinking","thinking":"","signature":""}`, `"signature":"__thought__dGV4dA=="`},
		llm.CreateModelResponse: {`__thought__Y2FsbC8-","name":"f0"`, `"summary":[],"encrypted_content":"__thought__dGV4dA=="`},
	} {
		enc := clients[surface].NewEncoder(&dialect.ResponseContext{Call: &llm.Call{}, ID: "01", Strict: true})
		var out []byte
		d := generate{}.NewDecoder(&dialect.Incoming{})
		emit := func(e *llm.Event) { out = enc.Append(out, e) }
		if err := d.Feed([]byte(stream), emit); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(emit); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s: no %s in\n%s", surface, w, out)
			}
		}
	}
}
