package catalog_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
)

func TestReach(t *testing.T) {
	t.Parallel()
	b := catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin()))
	for _, c := range []struct {
		provider, model string
		want            catalog.ContextLimits
	}{
		{"openai", "gpt-4o", catalog.ContextLimits{Input: 128000, Output: 16384}},
		{"bedrock", "us.anthropic.claude-3-haiku-20240307-v1:0", catalog.ContextLimits{Input: 200000, Output: 4096}}, // the prefix of a region is no part of the name
		{"openai", "o3", catalog.ContextLimits{Input: 200000, Output: 100000, Reasoning: catalog.AlwaysReasons, HidesReasoning: true}},
		{"openai", "gpt-5.1", catalog.ContextLimits{Input: 400000, Output: 128000, Reasoning: catalog.ReasonsByDefault, HidesReasoning: true}},
		{"anthropic", "claude-sonnet-4-5", catalog.ContextLimits{Input: 200000, Output: 64000, Reasoning: catalog.ReasonsOnRequest, HidesReasoning: true}},
		{"anthropic", "claude-opus-5", catalog.ContextLimits{Input: 1000000, Output: 128000, Reasoning: catalog.ReasonsByDefault, HidesReasoning: true}},
		{"anthropic", "claude-opus-5-5", catalog.ContextLimits{Input: 1000000, Output: 128000, Reasoning: catalog.AlwaysReasons, HidesReasoning: true}},
		{"deepseek", "deepseek-reasoner", catalog.ContextLimits{Input: 131072, Output: 65536, Reasoning: catalog.ReasonsByDefault}},
		{"replicate", "openai/gpt-5", catalog.ContextLimits{Reasoning: catalog.AlwaysReasons, HidesReasoning: true}}, // of which no sizes are known
		{"openai", "no-such-model", catalog.ContextLimits{}},
		{"no-such-provider", "gpt-4o", catalog.ContextLimits{}},
	} {
		if got := b.ContextLimits(c.provider, c.model); got != c.want {
			t.Errorf("%s of %s: %+v, want %+v", c.model, c.provider, got, c.want)
		}
	}
}

// A source of capabilities says how a model reasons; where it leaves that out, the built-in
// file counts.
func TestReasoningOfASource(t *testing.T) {
	t.Parallel()
	const file = `{
		"o3": {"type": {"primary": "chat", "supported": ["reasoning"]}, "features": {"context_window": 1000}},
		"gpt-5": {"type": {"primary": "chat", "supported": ["reasoning"]}, "features": {"reasoning_use": "on_request", "reasoning_shown": "full"}},
		"mine": {"type": {"primary": "chat", "supported": ["reasoning"]}, "features": {"reasoning_shown": "none"}},
		"unknown": {"type": {"primary": "chat", "supported": ["reasoning"]}, "features": {"reasoning_use": "sometimes"}},
		"plain": {"type": {"primary": "chat", "supported": []}, "features": {"reasoning_shown": "none", "context_window": 1000}},
		"listed": {"type": {"primary": "chat", "supported": ["reasoning"]}, "features": ["reasoning"]}
	}`
	pricing, general := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(general, "openai.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	b := catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Dirs(pricing, general), catalog.Builtin()))
	if err := b.Ready(t.Context(), "openai"); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]catalog.ContextLimits{
		"o3":      {Input: 1000, Reasoning: catalog.AlwaysReasons, HidesReasoning: true},
		"gpt-5":   {Reasoning: catalog.ReasonsOnRequest},
		"mine":    {Reasoning: catalog.ReasonsByDefault, HidesReasoning: true},
		"unknown": {Reasoning: catalog.ReasonsByDefault},
		"plain":   {Input: 1000},
		"listed":  {Reasoning: catalog.ReasonsByDefault},
	} {
		if got := b.ContextLimits("openai", model); got != want {
			t.Errorf("%s: %+v, want %+v", model, got, want)
		}
	}
}
