package catalog

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// deprecations are the days from which the provider answers for a model no more, that a file of
// capabilities names: {"o1": {"retires": "2026-10-23"}}. What is no day says nothing.
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

// listedModels takes what a file of capabilities of the provider says.
func (l *list) listedModels(provider string, can content) {
	bundled, _ := ask(context.Background(), Builtin(), file{GeneralFiles, provider}) // is in memory; without one it says nothing
	l.can, l.reach, l.retires = can.digest, can.generals.reach(provider, bundled.generals), can.generals.deprecations()
}

// availableModels reports whether a name is that of a model that is still to be had.
func (l *list) availableModels(model string, now time.Time) bool {
	if tunedPrices(model) {
		return false
	}
	day, known := l.retires[model]
	return !known || now.Before(day)
}

// Names are the models of a provider that the price list has, in order, but for those that
// are retired by now: fault.NotFound for a provider that it does not have.
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
