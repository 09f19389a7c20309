package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// These are the highest accepted prices, in cents. 10^12 tokens at maxTokenCents are five
// billion dollars, which fit in an int64 of nano-dollars.
const (
	maxTokenCents = 0.5     // for a token: 5,000 dollars for a million
	maxCents      = 100_000 // for everything except tokens: a minute, an image, a search
)

// check returns an error that names the first invalid price.
func (e Entry) check() error {
	if err := e.Pricing.check(); err != nil {
		return err
	}
	if e.Custom == nil {
		return nil
	}
	if _, err := thresholds(e.Custom.ContextTiers); err != nil {
		return err
	}
	if err := e.Custom.OffPeak.check(); err != nil {
		return fmt.Errorf("custom_pricing: %w", err)
	}
	for region, r := range e.Custom.Regions {
		for name, mode := range r.Modes {
			if err := mode.check(); err != nil {
				return fmt.Errorf("custom_pricing of region %s, %s: %w", region, name, err)
			}
		}
	}
	return nil
}

func (m Mode) check() error {
	if err := m.Pricing.check(); err != nil {
		return err
	}
	for name, t := range m.Tiers {
		if err := t.Pricing.check(); err != nil {
			return fmt.Errorf("context tier %s: %w", name, err)
		}
	}
	return nil
}

func (p *Pricing) check() error {
	if p == nil {
		return nil
	}
	if err := p.PayAsYouGo.check(); err != nil {
		return fmt.Errorf("pay_as_you_go.%w", err)
	}
	if err := p.Batch.check(); err != nil {
		return fmt.Errorf("batch_config.%w", err)
	}
	if f := p.Finetune; f != nil {
		if err := errors.Join(f.PerToken.check("pay_per_token", maxTokenCents), f.PerHour.check("pay_per_hour", maxCents)); err != nil {
			return fmt.Errorf("finetune_config.%w", err)
		}
	}
	if f := p.Fixed; f != nil {
		if err := errors.Join(f.Request.check("request", maxCents), f.Response.check("response", maxCents)); err != nil {
			return fmt.Errorf("fixed_cost.%w", err)
		}
	}
	return nil
}

func (r *Rates) check() error {
	if r == nil {
		return nil
	}
	for _, k := range rateKeys {
		limit := float64(maxTokenCents)
		if k.timed {
			limit = maxCents
		}
		if err := (*k.field(r)).check(k.name, limit); err != nil {
			return err
		}
	}
	for name, p := range r.AdditionalUnits {
		if err := p.check("additional_units."+name, maxCents); err != nil {
			return err
		}
	}
	for quality, sizes := range r.Image {
		for size, p := range sizes {
			if err := p.check("image."+quality+"."+size, maxCents); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Price) check(name string, limit float64) error {
	switch {
	case p == nil:
		return nil
	case !(p.Price >= 0): // also rejects NaN
		return fmt.Errorf("%s: %v is not a price", name, p.Price)
	case p.Price > limit:
		return fmt.Errorf("%s: %v cents exceed the maximum of %v; prices are in cents per token or unit", name, p.Price, limit)
	}
	return nil
}

// threshold is the lower bound of a context tier: more than aboveTokens input tokens.
type threshold struct {
	aboveTokens int64
	tier        string
}

// thresholds returns the entries of a context_tier_map, the highest first. The one at 0 also
// applies to an input without tokens.
func thresholds(tiers map[string]string) ([]threshold, error) {
	out := make([]threshold, 0, len(tiers))
	for text, tier := range tiers {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || strconv.FormatInt(n, 10) != text { // 0200 and 200 would be two tiers with one threshold
			return nil, fmt.Errorf("context_tier_map: %.40q must be a number of tokens, such as 200000", text)
		}
		if n == 0 {
			n = -1
		}
		out = append(out, threshold{n, tier})
	}
	slices.SortFunc(out, func(a, b threshold) int { return int(min(max(b.aboveTokens-a.aboveTokens, -1), 1)) })
	return out, nil
}
