package catalog

// compiler builds the plans of an entry.
type compiler struct {
	base  Pricing
	steps []threshold
	by    Adjustments

	standard, batch *plan // of the prices that apply if there are no specific ones
}

// region builds the plans of a region. A mode without prices has those of the standard mode,
// else the plain prices.
func (c *compiler) region(name string, r Region) (out modes) {
	for i, mode := range executions {
		out[i] = c.mode(name, mode, r)
	}
	return out
}

func (c *compiler) mode(region string, mode Execution, r Region) tiers {
	for _, execution := range [...]Execution{mode, Standard} {
		if m, ok := r.Modes[string(execution)]; ok && (m.Pricing != nil || len(m.Tiers) > 0) {
			halve := mode == Batch && execution == Standard
			return c.tiers(region+"/"+string(execution), m, halve)
		}
	}
	return tiers{{-1, c.plain(mode == Batch)}}
}

// tiers builds the plans of a mode. A tier without a price has the price of the mode, else the
// plain price.
func (c *compiler) tiers(name string, m Mode, halve bool) (out tiers) {
	for _, s := range c.steps {
		if p := m.Tiers[s.tier].Pricing; p != nil {
			out = append(out, tier{s.aboveTokens, c.custom(name+"/"+s.tier, p, halve)})
		} else {
			out = append(out, tier{s.aboveTokens, c.rest(name, m, halve)})
		}
	}
	if len(out) == 0 || out[len(out)-1].aboveTokens >= 0 {
		out = append(out, tier{-1, c.rest(name, m, halve)})
	}
	return out
}

func (c *compiler) rest(name string, m Mode, halve bool) *plan {
	if m.Pricing != nil {
		return c.custom(name, m.Pricing, halve)
	}
	return c.plain(halve)
}

// plain returns the plan that applies if there are no specific prices.
func (c *compiler) plain(halve bool) *plan {
	if halve {
		return c.batch
	}
	return c.standard
}

// custom returns the plan of specific prices, which inherit what they do not set.
func (c *compiler) custom(name string, p *Pricing, halve bool) *plan {
	batch := p.Batch
	if batch == nil && p.PayAsYouGo == nil {
		batch = c.base.Batch
	}
	return c.plan(name, c.base.withOverrides(p), batch, halve)
}

func (c *compiler) plan(name string, p Pricing, batch *Rates, halve bool) *plan {
	s := &rateSource{direct: p.PayAsYouGo, shared: c.base.PayAsYouGo, fixed: p.Fixed, tree: p.Calculate, tuned: p.Finetune}
	if halve {
		s.direct, s.halved = batch, p.PayAsYouGo
		name += ", batch"
	}
	return newPlan(name, s, c.by)
}
