package catalog

import "strings"

// plan contains the prices of one region, mode and context tier.
type plan struct {
	name          string // "default/batch/gt-200k"
	tokens        [dimCount]*rate
	rateDimension [dimCount]int // the dimension whose rate applies to the tokens; -1: none
	minute        *rate         // of transcriptions; nil: none
	character     *rate         // of speech
	fixed         [2]*rate      // of a request and of its response
	searches      [len(contexts)]*rate
	units         map[string]*rate
	images        map[string]map[string]*rate
}

// fixedNames are the dimensions of fixed costs, in the order of plan.fixed.
var fixedNames = [...]string{"fixed_request", "fixed_response"}

// contexts maps the context size of a search, or its tool, to the units that price it; the
// first one that is listed applies. Without a size the price is that of a low context, which
// is the default of the provider whose prices differ.
// Source: https://docs.perplexity.ai/guides/search-context-size-guide, read 2026-11.
var contexts = [...]struct {
	name  string
	units []string
}{
	{"", []string{"web_search", "search", "web_search_low_context"}},
	{"low", []string{"web_search_low_context", "web_search", "search"}},
	{"medium", []string{"web_search_medium_context", "web_search", "search"}},
	{"high", []string{"web_search_high_context", "web_search", "search"}},
	{"preview", []string{"web_search_preview", "web_search", "search", "web_search_low_context"}},
}

// newPlan compiles the prices of a rateSource.
func newPlan(name string, s *rateSource, a Adjustments) *plan {
	b := &builder{rateSource: s, adjustments: a}
	p := &plan{name: name}
	form, byFormula := newFormula(s.tree)
	for d := range dimensions {
		for _, key := range dimensions[d].keys {
			if p.tokens[d] == nil {
				p.tokens[d] = b.rate(key, multiplierOne)
			}
		}
		if w, ok := form.tokens[d]; ok && byFormula {
			if r := b.rate(w.key, w.with); r != nil {
				p.tokens[d] = r
			}
		}
	}
	p.timed()
	p.fold()
	for i, c := range contexts {
		for _, unit := range c.units {
			if p.searches[i] == nil {
				p.searches[i] = b.rate(unitKey+unit, multiplierOne)
			}
		}
	}
	if f := s.fixed; f != nil {
		p.fixed = [...]*rate{b.make("fixed_cost.request", f.Request, 10, multiplierOne), b.make("fixed_cost.response", f.Response, 10, multiplierOne)}
	}
	p.units = b.units()
	b.training(p.units)
	with := int64(multiplierOne)
	if byFormula {
		with = form.images
	}
	p.images = b.images(with)
	return p
}

// timed separates prices of minutes and characters from those of tokens.
func (p *plan) timed() {
	if r := p.tokens[dimAudioInput]; r != nil && r.femto >= minuteFemto {
		minute := *r
		minute.per = minuteMilli
		p.minute, p.tokens[dimAudioInput] = &minute, nil
	}
	for _, d := range [...]int{dimOutput, dimAudioOutput} {
		if r := p.tokens[d]; r != nil && r.femto > 0 {
			return
		}
	}
	p.character = p.tokens[dimInput]
}

// fold finds the dimension whose rate applies to each dimension.
func (p *plan) fold() {
	for d := range dimensions {
		p.rateDimension[d] = -1
		for _, e := range append([]int{d}, dimensions[d].orElse...) {
			if p.tokens[e] != nil {
				p.rateDimension[d] = e
				break
			}
		}
	}
}

// image returns the price of an image. The default of its quality takes precedence over that
// of all qualities.
func (p *plan) image(quality, size string) *rate {
	for _, q := range [...]string{quality, defaultModel} {
		for _, s := range [...]string{size, defaultModel} {
			if r := p.images[q][s]; r != nil {
				return r
			}
		}
	}
	return nil
}

// unit returns the price of an additional unit.
func (p *plan) unit(name string) *rate {
	r := p.units[name]
	switch {
	case r != nil:
	case strings.HasPrefix(name, CodeExecution+"_"):
		return p.units[CodeExecution]
	case strings.HasPrefix(name, videoAt):
		return p.units[VideoSeconds]
	}
	return r
}

// search returns the price of a search.
func (p *plan) search(context string) *rate {
	for i := range contexts {
		if contexts[i].name == context {
			return p.searches[i]
		}
	}
	return p.searches[0]
}
