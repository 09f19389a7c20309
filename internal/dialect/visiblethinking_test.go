package dialect_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/kernel/llm"
)

// Callers who ask for reasoning in OpenAI's terms see a summary of it, whichever model of Claude
// answers and wherever it runs: newer ones leave the text empty unless they are asked.
// Source: https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-7, read 2026-11.
func TestReasoningOfNewerClaudeIsVisible(t *testing.T) {
	t.Parallel()
	const shown, adaptive = `"thinking":{"type":"adaptive","display":"summarized"}`, `"thinking":{"type":"adaptive"}`
	chat := func(rest string) string { return `{"messages":[{"role":"user","content":"x"}]` + rest + `}` }
	input := func(rest string) string { return `{"input":"x"` + rest + `}` }
	for name, c := range map[string]struct {
		surface           llm.Endpoint
		model, body, want string // want empty: no thinking at all
	}{
		"effort on chat":                      {llm.ChatComplete, "claude-opus-5-5", chat(`,"reasoning_effort":"high"`), shown},
		"effort on responses":                 {llm.CreateModelResponse, "claude-opus-4-7", input(`,"reasoning":{"effort":"low"}`), shown},
		"effort and summary":                  {llm.CreateModelResponse, "claude-sonnet-5", input(`,"reasoning":{"effort":"low","summary":"auto"}`), shown},
		"summary alone":                       {llm.CreateModelResponse, "claude-haiku-5-5", input(`,"reasoning":{"summary":"auto"}`), shown},
		"summary in the older field":          {llm.CreateModelResponse, "claude-haiku-5-5", input(`,"reasoning":{"generate_summary":"concise"}`), shown},
		"summary of a model that shows it":    {llm.CreateModelResponse, "claude-opus-4-6", input(`,"reasoning":{"summary":"detailed"}`), adaptive},
		"effort of a model that shows it":     {llm.ChatComplete, "claude-sonnet-4-6", chat(`,"reasoning_effort":"low"`), adaptive},
		"summary of a model with budgets":     {llm.CreateModelResponse, "claude-sonnet-4-5", input(`,"reasoning":{"summary":"auto"}`), ""},
		"null":                                {llm.CreateModelResponse, "claude-opus-5-5", input(`,"reasoning":{"summary":null}`), ""},
		"summary where a tool must be called": {llm.CreateModelResponse, "claude-opus-4-7", input(`,"reasoning":{"summary":"auto"},"tools":[{"type":"function","name":"f"}],"tool_choice":"required"`), ""},
		"Claude's own words win":              {llm.CreateModelResponse, "claude-opus-5-5", input(`,"reasoning":{"effort":"low","summary":"auto"},"thinking":{"type":"adaptive","display":"omitted"}`), `"thinking":{"type":"adaptive","display":"omitted"}`},
	} {
		call, err := surfaces[c.surface].DecodeCall([]byte(c.body))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for model, upstream := range map[string]dialect.Upstream{c.model: anthropic.Dialect().Upstreams[llm.ChatComplete], "us.anthropic." + c.model: bedrock.Dialect().Upstreams[llm.ChatComplete]} {
			out, err := upstream.EncodeCall(t.Context(), call, &dialect.Target{Model: model, Value: func(string) string { return "" }})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if c.want == "" && strings.Contains(string(out.Body), `"thinking"`) || !strings.Contains(string(out.Body), c.want) {
				t.Errorf("%s, %s: sent %s, want %s", name, model, out.Body, c.want)
			}
			for _, path := range out.Dropped {
				if strings.Contains(path, "summary") {
					t.Errorf("%s, %s: lost %q", name, model, out.Dropped)
				}
			}
		}
	}
}

// Callers of messages say in Claude's own words what they want to see.
func TestCallersOfMessagesChooseTheDisplay(t *testing.T) {
	t.Parallel()
	call, err := surfaces[llm.Messages].DecodeCall([]byte(`{"max_tokens":9,"output_config":{"effort":"high"},"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for model, upstream := range map[string]dialect.Upstream{"claude-opus-5-5": anthropic.Dialect().Upstreams[llm.ChatComplete], "us.anthropic.claude-opus-5-5": bedrock.Dialect().Upstreams[llm.ChatComplete]} {
		out, err := upstream.EncodeCall(t.Context(), call, &dialect.Target{Model: model, Value: func(string) string { return "" }})
		if err != nil || strings.Contains(string(out.Body), `"display"`) {
			t.Errorf("%s: sent %s, %v", model, out.Body, err)
		}
	}
}
