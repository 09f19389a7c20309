package catalog

import (
	"context"
	"maps"
	"slices"

	"encoding/json"
	"time"
)

// retirements are the days from which the provider answers for a model no more, that a file of
// capabilities names: {"o1": {"retires": "2026-10-23"}}. What is no day says nothing.
func (g Generals) retirements() map[string]time.Time {
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

// told takes what a file of capabilities says.
func (l *list) told(g Generals) { l.reach, l.retires = g.reach(), g.retirements() }

// sold reports whether a model is still to be had.
func (l *list) sold(model string, now time.Time) bool {
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
	if generals, err := c.Generals(ctx, provider); err == nil {
		l.told(generals)
	}
	names := slices.Sorted(maps.Keys(prices))
	return slices.DeleteFunc(names, func(model string) bool { return model == "default" || !l.sold(model, now) }), nil
}
