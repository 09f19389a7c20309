package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/cohere"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/responses"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// A coding agent asks for a tool that Anthropic runs, and wants it called. Where the tool has no
// place neither has the wish: providers refuse a choice without tools.
func TestChoiceGoesWithItsTool(t *testing.T) {
	t.Parallel()
	client := anthropic.Dialect().Clients[llm.Messages]
	const template = `{"max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search_20250305","name":"web_search"}%s],"tool_choice":{"type":"tool","name":"%s","disable_parallel_tool_use":true}}`
	for name, upstream := range map[string]dialect.Upstream{
		"openai": openai.Dialect().Upstreams[llm.ChatComplete], "responses": responses.Upstream(), "gemini": gemini.Dialect().Upstreams[llm.ChatComplete],
		"cohere": cohere.Dialect().Upstreams[llm.ChatComplete],
	} {
		for _, c := range []struct {
			more, requested string
			wantChoice      bool
		}{{"", "web_search", false}, {`,{"name":"f","input_schema":{"type":"object"}}`, "web_search", false}, {`,{"name":"f","input_schema":{"type":"object"}}`, "f", true}} {
			call, err := client.DecodeCall([]byte(strings.Replace(strings.Replace(template, "%s", c.more, 1), "%s", c.requested, 1)))
			if err != nil {
				t.Fatal(err)
			}
			out, err := upstream.EncodeCall(t.Context(), call, &dialect.Target{Model: "m", Value: func(string) string { return "" }})
			if err != nil {
				t.Fatal(err)
			}
			body := string(out.Body)
			chosen := strings.Contains(body, "tool_choice") || strings.Contains(body, "functionCallingConfig")
			if chosen != c.wantChoice || slices.Contains(out.Dropped, "tool_choice") == c.wantChoice || strings.Contains(body, "web_search") {
				t.Errorf("%s: sent %s, lost %q", name, body, out.Dropped)
			}
			if c.more == "" && strings.Contains(body, "parallel") {
				t.Errorf("%s: sent %s", name, body)
			}
		}
	}
}

// A function without arguments is told with a list of its properties, which OpenAI demands.
func TestArguments(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"type":"object"}`:                                `{"type":"object","properties":{}}`,
		`{"type":"object","additionalProperties":{}}`:      `{"type":"object","additionalProperties":{},"properties":{}}`,
		`{"properties":{"a":{}},"type":"object"}`:          `{"properties":{"a":{}},"type":"object"}`,
		`{"type":"string"}`:                                `{"type":"string"}`,
		`{"anyOf":[{"type":"object"},{"type":"integer"}]}`: `{"anyOf":[{"type":"object"},{"type":"integer"}]}`,
		``: ``,
	} {
		if got := string(toolcalls.Arguments([]byte(input))); got != want {
			t.Errorf("%s: got %s, want %s", input, got, want)
		}
	}
}
