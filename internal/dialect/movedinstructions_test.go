package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/gemini"
	"sluice/internal/kernel/llm"
)

// Instructions in the middle of a conversation stay there for models of Claude that take them at
// that point; where they are moved, the caller learns it.
// Source: https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages, read 2026-11.
func TestInstructionsInTheMiddle(t *testing.T) {
	t.Parallel()
	const user, model, now = `{"role":"user","content":"a"}`, `{"role":"assistant","content":"b"}`, `{"role":"system","content":"now in French"}`
	const stays, moved = `{"role":"system","content":"now in French"}`, `"now in French"}]`
	claude, aws, google := anthropic.Dialect().Upstreams[llm.ChatComplete], bedrock.Dialect().Upstreams[llm.ChatComplete], gemini.Dialect().Upstreams[llm.ChatComplete]
	for name, c := range map[string]struct {
		upstream        dialect.Upstream
		model, messages string
		want, dropped   string
	}{
		"at the end":                      {claude, "claude-opus-4-8", user + `,` + now, stays + `]`, ""},
		"before the model speaks":         {claude, "claude-sonnet-5-5", user + `,` + now + `,` + model + `,` + user, `,` + stays + `,`, ""},
		"behind the model":                {claude, "claude-opus-5", user + `,` + model + `,` + now + `,` + user, moved, "messages[2]"},
		"behind the model, then the user": {claude, "claude-fable-5", user + `,` + model + `,` + user + `,` + now, stays + `]`, ""},
		"two that follow each other":      {claude, "claude-haiku-5-5", user + `,` + now + `,{"role":"developer","content":"and short"}`, `{"role":"system","content":[{"type":"text","text":"now in French"},{"type":"text","text":"and short"}]}`, ""},
		"an older model":                  {claude, "claude-opus-4-7", user + `,` + now, moved, "messages[1]"},
		"before the conversation":         {claude, "claude-opus-4-7", now + `,` + user, moved, ""},
		"on Bedrock":                      {aws, "us.anthropic.claude-opus-4-8", user + `,` + now, moved, "messages[1]"},
		"at Gemini":                       {google, "gemini-2.5-pro", user + `,` + now, moved, "messages[1]"},
	} {
		call, err := surfaces[llm.ChatComplete].DecodeCall([]byte(`{"messages":[` + c.messages + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.upstream.EncodeCall(t.Context(), call, &dialect.Target{Model: c.model, Value: func(string) string { return "" }})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(string(out.Body), c.want) || strings.Join(out.Dropped, ",") != c.dropped {
			t.Errorf("%s: lost %q, sent %s, want %s", name, out.Dropped, out.Body, c.want)
		}
	}
}

// Stop sequences that a provider refuses do not reach it.
func TestBlankStopSequences(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"anthropic claude-opus-5-5": `"stop_sequences":["END"]`, "bedrock us.anthropic.claude-opus-5-5": `"stopSequences":["END"]`,
		"bedrock amazon.nova-pro-v1:0": `"stopSequences":["\n","END"]`, "gemini gemini-2.5-pro": `"stopSequences":["\n","END"]`, "cohere command-a-03-2025": `"stop_sequences":["\n","END"]`,
	} {
		_, model, _ := strings.Cut(name, " ")
		for _, stop := range []string{`["","\n","END"]`, `""`} {
			call, err := surfaces[llm.ChatComplete].DecodeCall([]byte(`{"messages":[{"role":"user","content":"x"}],"stop":` + stop + `}`))
			if err != nil {
				t.Fatal(err)
			}
			out, err := toolProviders(t)[name].EncodeCall(t.Context(), call, &dialect.Target{Model: model, Value: func(string) string { return "" }})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if sent := strings.Contains(string(out.Body), want); sent != (stop != `""`) || !sent && strings.Contains(strings.ToLower(string(out.Body)), "stop") {
				t.Errorf("%s: sent %s, want %s", name, out.Body, want)
			}
			if slices.Contains(out.Dropped, "stop") {
				t.Errorf("%s: lost %q", name, out.Dropped)
			}
		}
	}
}
