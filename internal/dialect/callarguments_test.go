package dialect_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// A call whose arguments are no JSON object, as one that was cut off, goes on as text with every
// provider: the session does not end with it.
func TestMalformedArgumentsTravelAsText(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{`{"city": "Ro`, `[1]`, `Rome`, `{"far":1e999}`} {
		body := `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":` + string(jsonedit.Quote(arguments)) +
			`}}]},{"role":"tool","tool_call_id":"a","content":"cannot read the arguments"}],"tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object"}}}]}`
		for name, upstream := range toolProviders(t) {
			shape, model, _ := strings.Cut(name, " ")
			c, err := surfaces[llm.ChatComplete].DecodeCall([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			out, err := upstream.EncodeCall(t.Context(), c, &dialect.Target{Model: model, Value: func(string) string { return "" }})
			if err != nil {
				t.Errorf("%s to %s: %v", arguments, name, err)
				continue
			}
			if shape == "responses" { // takes any string
				continue
			}
			var v any
			if err := json.Unmarshal(out.Body, &v); err != nil {
				t.Errorf("%s to %s: %v", arguments, name, err)
			}
			sent := strings.ReplaceAll(string(out.Body), `\`, "")
			if want := `{"raw_arguments":` + strings.ReplaceAll(string(jsonedit.Quote(arguments)), `\`, "") + `}`; !strings.Contains(sent, want) {
				t.Errorf("%s to %s: sent %s, want %s", arguments, name, sent, want)
			}
			if !slices.ContainsFunc(out.Dropped, func(path string) bool { return strings.HasPrefix(path, "messages[1].tool_calls") }) {
				t.Errorf("%s to %s: lost %q", arguments, name, out.Dropped)
			}
		}
	}
}

// Half of a surrogate pair in the arguments of a call or in a schema would make the whole body
// invalid for who reads JSON strictly.
// Source: RFC 8259, section 8.2.
func TestHalvesOfPairsAreRepaired(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"q":{"type":"string","description":"a \ud83d b","enum":["\udc00"]}}}`
	bodies := map[llm.Endpoint]string{
		llm.ChatComplete: `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":"{\"q\":\"\\ud83d\"}"}}]},{"role":"tool","tool_call_id":"a","content":"\ud83d"}],"tools":[{"type":"function","function":{"name":"find","parameters":` +
			schema + `}}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":` + schema + `}}}`,
		llm.Messages:            `{"max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"find","input":{"q":"\ud83d"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"\ud83d"}]}],"tools":[{"name":"find","input_schema":` + schema + `}]}`,
		llm.CreateModelResponse: `{"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"a","name":"find","arguments":"{\"q\":\"\\ud83d\"}"},{"type":"function_call_output","call_id":"a","output":"\ud83d"}],"tools":[{"type":"function","name":"find","parameters":` + schema + `}]}`,
	}
	for surface, body := range bodies {
		for name, upstream := range toolProviders(t) {
			_, model, _ := strings.Cut(name, " ")
			c, err := surfaces[surface].DecodeCall([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			out, err := upstream.EncodeCall(t.Context(), c, &dialect.Target{Model: model, Value: func(string) string { return "" }})
			if err != nil {
				t.Errorf("%s to %s: %v", surface, name, err)
				continue
			}
			if repaired := string(jsonedit.AppendRepaired(nil, out.Body)); repaired != string(out.Body) {
				t.Errorf("%s to %s: sent half of a pair: %s", surface, name, out.Body)
			}
		}
	}
}
