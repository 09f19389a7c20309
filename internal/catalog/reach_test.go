package catalog_test

import (
	"log/slog"
	"testing"

	"sluice/internal/catalog"
	"sluice/internal/ident"
)

func TestReach(t *testing.T) {
	t.Parallel()
	b := catalog.NewBook(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin()))
	for _, c := range []struct {
		provider, model string
		want            catalog.Reach
	}{
		{"openai", "gpt-4o", catalog.Reach{Input: 128000, Output: 16384}},
		{"bedrock", "us.anthropic.claude-3-haiku-20240307-v1:0", catalog.Reach{Input: 200000, Output: 4096}}, // the prefix of a region is no part of the name
		{"openai", "no-such-model", catalog.Reach{}},
		{"no-such-provider", "gpt-4o", catalog.Reach{}},
	} {
		if got := b.Reach(c.provider, c.model); got != c.want {
			t.Errorf("%s of %s: %+v, want %+v", c.model, c.provider, got, c.want)
		}
	}
}
