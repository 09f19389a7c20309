package catalog

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// deprecations returns the days from which the provider no longer serves a model, as listed in
// a file of capabilities: {"o1": {"retires": "2026-10-23"}}. An invalid day is ignored.
func (g ModelInfo) deprecations() map[string]time.Time {
	out := make(map[string]time.Time)
	for model, entry := range g {
		var text string
		if json.Unmarshal(entry["retires"], &text) != nil {
			continue
		}
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			out[model] = day
		}
	}
	return out
}

// listedModels applies the file of capabilities of the provider.
func (l *list) listedModels(provider string, can content) {
	bundled, _ := ask(context.Background(), Builtin(), file{GeneralFiles, provider}) // reads memory only; a missing file means no capabilities
	l.can, l.reach, l.retires = can.digest, can.generals.reach(provider, bundled.generals), can.generals.deprecations()
}

// availableModels reports whether a name is that of a model that can still be called.
func (l *list) availableModels(model string, now time.Time) bool {
	if tunedPrices(model) {
		return false
	}
	day, known := l.retires[model]
	return !known || now.Before(day)
}

// Names returns the models in the price list of a provider, in order, without those that are
// retired at now; fault.NotFound for an unknown provider.
func (c *Catalog) Names(ctx context.Context, provider string, now time.Time) ([]string, error) {
	prices, err := c.Prices(ctx, provider)
	if err != nil {
		return nil, err
	}
	l := &list{}
	if generals, err := c.ModelInfo(ctx, provider); err == nil {
		l.retires = generals.deprecations()
	}
	names := slices.Sorted(maps.Keys(prices))
	return slices.DeleteFunc(names, func(model string) bool { return model == "default" || !l.availableModels(model, now) }), nil
}
