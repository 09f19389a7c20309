package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// Callers of functions, as chat had them before tools, are understood, and get calls in their
// own form, whole and in a stream.
func TestFunctionsOfOld(t *testing.T) {
	t.Parallel()
	client, upstream := openai.Dialect().Clients[llm.ChatComplete], anthropic.Dialect().Upstreams[llm.ChatComplete]
	c, err := client.DecodeCall([]byte(`{"max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}},{"role":"function","name":"f","content":"one"},` +
		`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}},{"role":"function","name":"f","content":"two"}],"functions":[{"name":"f","description":"d","parameters":{"type":"object"}}],"function_call":{"name":"f"}}`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := upstream.EncodeCall(t.Context(), c, &dialect.Target{Model: "claude-opus-4-5", Value: func(string) string { return "" }})
	if err != nil || len(out.Dropped) > 0 {
		t.Fatalf("%v, lost %q", err, out.Dropped)
	}
	want := `{"model":"claude-opus-4-5","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"function_1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"function_1","content":"one"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"function_3","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"function_3","content":"two"}]}],"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"f"}}`
	if string(out.Body) != want {
		t.Errorf("sent %s", out.Body)
	}
	r, err := upstream.DecodeResponse(&dialect.Incoming{Call: c, Body: []byte(`{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":2}},{"type":"tool_use","id":"toolu_2","name":"f","input":{}}],"stop_reason":"tool_use"}`)})
	if err != nil {
		t.Fatal(err)
	}
	a := &dialect.ResponseContext{Call: c, ID: "01", Strict: true}
	const called = `"function_call":{"name":"f","arguments":"{\"b\":2}"},"tool_calls":[{"id":"toolu_2","type":"function","function":{"name":"f","arguments":"{}"}}]`
	buffered := string(client.EncodeResponse(nil, r, a))
	if !strings.Contains(buffered, called) || !strings.Contains(buffered, `"finish_reason":"function_call"`) {
		t.Errorf("answered %s", buffered)
	}
	var stream []byte
	enc := client.NewEncoder(a)
	dialect.Replay(r, func(ev *llm.Event) { stream = enc.Append(stream, ev) })
	name, arguments, finish := functionIn(t, string(stream))
	if name != "f" || arguments != `{"b":2}` || finish != "function_call" || strings.Count(string(stream), `"tool_calls"`) != 2 {
		t.Errorf("%q %q %q in %s", name, arguments, finish, stream)
	}
}

// functionIn puts the pieces of a function's call together.
func functionIn(t *testing.T, stream string) (name, arguments, finish string) {
	t.Helper()
	for _, line := range strings.Split(stream, "\n") {
		data, ok := strings.CutPrefix(line, "data: {")
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Call struct{ Name, Arguments string } `json:"function_call"`
				}
				Finish string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte("{"+data), &chunk); err != nil {
			t.Fatal(err)
		}
		for _, c := range chunk.Choices {
			name, arguments, finish = name+c.Delta.Call.Name, arguments+c.Delta.Call.Arguments, finish+c.Finish
		}
	}
	return name, arguments, finish
}

func TestFunctionsOfOldRefused(t *testing.T) {
	t.Parallel()
	client := openai.Dialect().Clients[llm.ChatComplete]
	for body, param := range map[string]string{
		`{"messages":[{"role":"user","content":"x"}],"functions":{}}`:                                    "functions",
		`{"messages":[{"role":"user","content":"x"}],"functions":[7]}`:                                   "functions[0]",
		`{"messages":[{"role":"user","content":"x"}],"functions":[{"description":"d"}]}`:                 "functions[0].name",
		`{"messages":[{"role":"user","content":"x"}],"functions":[{"name":"f"}],"function_call":"some"}`: "function_call",
		`{"messages":[{"role":"assistant","function_call":{"arguments":"{}"}}]}`:                         "messages[0].function_call.name",
		`{"messages":[{"role":"assistant","function_call":{"name":"f","arguments":{}}}]}`:                "messages[0].function_call.arguments",
		`{"messages":[{"role":"assistant","function_call":"f"}]}`:                                        "messages[0].function_call",
	} {
		if _, err := client.DecodeCall([]byte(body)); err == nil || fault.From(err).Param != param {
			t.Errorf("%s: %v", body, err)
		}
	}
}
