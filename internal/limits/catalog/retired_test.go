package catalog_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
)

// A model is among the names until the day on which it retires, and has its price for ever.
func TestNamesOfRetiredModels(t *testing.T) {
	t.Parallel()
	b := catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin()))
	for _, c := range []struct {
		provider, model string
		last            time.Time // zero: none is known
	}{
		{"openai", "o1", time.Date(2026, 10, 22, 23, 59, 59, 0, time.UTC)},
		{"anthropic", "claude-3-opus-latest", time.Date(2026, 1, 4, 12, 0, 0, 0, time.UTC)},
		{"google", "gemini-2.0-flash", time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)},
		{"openai", "gpt-4o", time.Time{}},
	} {
		last := c.last
		if last.IsZero() {
			last = time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		if !slices.Contains(b.Names(c.provider, last), c.model) {
			t.Errorf("%s is not there on %s", c.model, last)
		}
		if !c.last.IsZero() && slices.Contains(b.Names(c.provider, last.AddDate(0, 0, 1)), c.model) {
			t.Errorf("%s is there a day after %s", c.model, last)
		}
		if !b.Has(c.provider, c.model, nil) {
			t.Errorf("%s has no price", c.model)
		}
	}
	if names := b.Names("no-such-provider", time.Now()); names != nil {
		t.Errorf("names of nobody: %q", names)
	}
}
