package dialect_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/llm"
)

// OpenAI ends an answer whose tool the caller named with "stop", and some servers do so with
// all calls: callers of messages learn that tools are to be run, in a stream and whole.
func TestCallsThatEndWithStop(t *testing.T) {
	t.Parallel()
	client, upstream := anthropic.Dialect().Clients[llm.Messages], openai.Dialect().Upstreams[llm.ChatComplete]
	call := `"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]`
	for message, want := range map[string]string{call: `"stop_reason":"tool_use"`, `"content":"hi"`: `"stop_reason":"end_turn"`} {
		incoming := &dialect.Incoming{Call: &llm.Call{Surface: llm.Messages}}
		a := &dialect.ResponseContext{Call: incoming.Call, ID: "01"}
		incoming.Body = []byte(`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",` + message + `}}]}`)
		r, err := upstream.DecodeResponse(incoming)
		if err != nil {
			t.Fatal(err)
		}
		if out := client.EncodeResponse(nil, r, a); !strings.Contains(string(out), want) {
			t.Errorf("%s: %s", message, out)
		}
		var out []byte
		enc, dec := client.NewEncoder(a), upstream.NewDecoder(incoming)
		stream := `data: {"choices":[{"index":0,"delta":{` + message + `}}]}` + "\n\n" + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
		if err := dec.Feed([]byte(stream), func(ev *llm.Event) { out = enc.Append(out, ev) }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: %s", message, out)
		}
	}
}
