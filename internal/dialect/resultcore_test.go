package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/registry"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/llm"
)

// toolProviders are the upstreams that take tools, with a model of theirs.
func toolProviders(t *testing.T) map[string]dialect.Upstream {
	t.Helper()
	list := map[string]dialect.Upstream{"responses gpt-5": responses.Upstream()}
	models := map[string][]string{
		"anthropic": {"claude-opus-5-5"}, "bedrock": {"us.anthropic.claude-opus-5-5", "amazon.nova-pro-v1:0"}, "cohere": {"command-a-03-2025"},
		"gemini": {"gemini-2.5-pro", "gemini-3-pro-preview"}, "openai": {"gpt-5"}, "oracle": {"meta.llama-4", "cohere.command-r", "cohere.command-a-reasoning"}, "workers-ai": {"@cf/meta/llama-4"},
	}
	for _, d := range registry.List() {
		up, ok := d.Upstreams[llm.ChatComplete]
		for _, model := range models[d.Name] {
			if delete(models, d.Name); ok {
				list[d.Name+" "+model] = up
			}
		}
	}
	if len(models) > 0 {
		t.Fatalf("no dialects for %v", models)
	}
	return list
}

// A tool result of blocks that another provider does not know keeps its text.
// Source: https://platform.claude.com/docs/en/build-with-claude/search-results, read 2026-11.
func TestResultsOfUnknownBlocksKeepTheirText(t *testing.T) {
	t.Parallel()
	const search = `{"type":"search_result","source":"https://docs.example","title":"Rates","content":[{"type":"text","text":"100 a minute"}],"citations":{"enabled":true}}`
	const reference = `{"type":"tool_reference","tool_name":"get_weather"}`
	const strange = `{"type":"not_known_yet","degrees":21}`
	blocks := `[{"type":"text","text":"found:"},` + search + `,` + reference + `,` + strange + `]`
	bodies := map[llm.Endpoint]string{
		llm.Messages: `{"max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"find","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` +
			blocks + `}]}],"tools":[{"name":"find","input_schema":{"type":"object"}}]}`,
		llm.CreateModelResponse: `{"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"a","name":"find","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":` +
			strings.Replace(blocks, `"text","text":"found:"`, `"input_text","text":"found:"`, 1) + `}],"tools":[{"type":"function","name":"find","parameters":{"type":"object"}}]}`,
		llm.ChatComplete: `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":` +
			blocks + `}],"tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object"}}}]}`,
	}
	for surface, body := range bodies {
		for name, upstream := range toolProviders(t) {
			shape, model, _ := strings.Cut(name, " ")
			c, err := surfaces[surface].DecodeCall([]byte(body))
			if err != nil {
				t.Fatalf("%s: %v", surface, err)
			}
			out, err := upstream.EncodeCall(t.Context(), c, &dialect.Target{Model: model, Value: func(string) string { return "" }})
			if err != nil {
				t.Errorf("%s to %s: %v", surface, name, err)
				continue
			}
			isNative := surface == llm.Messages && shape == "anthropic" || surface == llm.CreateModelResponse && shape == "responses"
			if isNative != strings.Contains(string(out.Body), search) {
				t.Errorf("%s to %s: sent %s", surface, name, out.Body)
			}
			for _, text := range []string{"found:", "https://docs.example", "Rates", "100 a minute", "get_weather", "degrees", "21"} {
				if !strings.Contains(string(out.Body), text) {
					t.Errorf("%s to %s: %q is not in %s", surface, name, text, out.Body)
				}
			}
			if !isNative && !slices.ContainsFunc(out.Dropped, func(path string) bool { return strings.HasPrefix(path, "messages[2]") || path == "input[2]" }) {
				t.Errorf("%s to %s: lost %q", surface, name, out.Dropped)
			}
		}
	}
}

// A block without text is sent as JSON, up to a limit.
func TestTextCore(t *testing.T) {
	t.Parallel()
	long := `{"type":"x","n":[` + strings.Repeat("1,", 40<<10) + `1]}`
	deep := strings.Repeat(`{"content":[`, 100) + `{"text":"far"}` + strings.Repeat(`]}`, 100)
	for raw, want := range map[string]string{
		`"plain"`:                         "plain",
		`{"type":"x","n":1}`:              `{"type":"x","n":1}`,
		`{"type":"x","text":"  "}`:        `{"type":"x","text":"  "}`,
		`{"text":"a","content":"b"}`:      "a\nb",
		`{"data":"aGk=","title":"A pdf"}`: "A pdf",
		long:                              "",
		deep:                              deep,
	} {
		if got := conversation.TextCore([]byte(raw)); got != want {
			t.Errorf("%.60s: %.80q, want %.80q", raw, got, want)
		}
	}
	call := &llm.Call{Surface: llm.Messages}
	if _, ok := conversation.ResultPart(llm.NewTally(call), call, &llm.Message{}, 0, "openai", &llm.Part{Kind: llm.OpaquePart, Shape: "anthropic", Raw: []byte(long)}); ok {
		t.Error("a block without text and beyond the limit was taken")
	}
}
