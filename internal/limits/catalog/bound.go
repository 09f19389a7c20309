package catalog

// The maximum usage of calls that do not state one.
const (
	// DefaultMaxOutputTokens is the maximum tokens of a response, unless the catalog has a limit.
	DefaultMaxOutputTokens = 131_072
	// MaxSearches is the maximum number of searches, or of calls of another provider tool, that a
	// model makes.
	MaxSearches = 20
)

// Limits are the maximum units that a call may use, as far as they are known before it is
// sent.
type Limits struct {
	Region      string    // if it has no prices of its own, or is empty, any region may apply and the most expensive counts
	Execution   Execution // empty: any mode may apply and the most expensive counts
	Alternative Execution // mode that the provider may choose on its own; empty: none

	Input         int64    // tokens of any kind
	Largest       int64    // with several requests: the input of the largest, which chooses the context tier; 0: there is one request
	Output        int64    // tokens, including reasoning and citations
	AudioMilli    int64    // milliseconds of audio to be transcribed
	Characters    int64    // of text to be spoken
	Requests      int64    // 1 for a call
	Searches      int64    // with the context below
	SearchContext string   // empty: any
	Images        []Images // an empty quality or size means any
	Other         []Other
}

// MaxCost returns the maximum cost of a call within its limits, in nano-dollars. No Cost of
// units within them is higher, however its tokens are split. Units without a price count
// nothing, as in Cost. A value that does not fit an int64 becomes the largest int64. A budget
// reserves this amount before a call is sent.
func (t *RateCard) MaxCost(l *Limits) int64 {
	if !t.listed() {
		return 0
	}
	if regional := t.regionModes(l.Region); regional != nil {
		return regional.maxCost(l)
	}
	highest := t.regionPrices(l.Region).maxCost(l)
	if t.offPeak != nil {
		highest = max(highest, t.offPeak.modes.maxCost(l))
	}
	for i := range t.regions {
		highest = max(highest, t.regions[i].modes.maxCost(l))
	}
	return highest
}

// maxCost returns the maximum over the modes in which a call may be executed.
func (m *modes) maxCost(l *Limits) int64 {
	highest := int64(0)
	if l.Alternative != "" {
		highest = m.tiersFor(l.Alternative).maxCost(l)
	}
	if l.Execution != "" {
		return max(highest, m.tiersFor(l.Execution).maxCost(l))
	}
	for i := range m {
		highest = max(highest, m[i].maxCost(l))
	}
	return highest
}

// maxCost returns the maximum over the tiers that an input of at most that size reaches.
func (t tiers) maxCost(l *Limits) int64 {
	highest := int64(0)
	for _, tier := range t {
		if l.largest() > tier.aboveTokens {
			highest = max(highest, tier.plan.maxCost(l))
		}
	}
	return highest
}

// largest returns the size of the input that chooses the tier.
func (l *Limits) largest() int64 {
	if l.Largest > 0 {
		return l.Largest
	}
	return max(0, l.Input)
}

func (p *plan) maxCost(l *Limits) int64 {
	b := ceiling{bills: 1}
	if l.Largest > 0 { // each request is billed and rounded separately
		b.bills = max(1, l.Requests)
	}
	b.tokens(p, sideInput, l.Input)
	b.tokens(p, sideOutput, l.Output)
	b.add(p.minute, l.AudioMilli)
	b.add(p.character, l.Characters)
	for _, r := range p.fixed {
		b.add(r, l.Requests)
	}
	b.add(p.dearestSearch(l.SearchContext), l.Searches)
	for _, i := range l.Images {
		b.add(p.dearestImage(i.Quality, i.Size), i.Count)
	}
	for _, o := range l.Other {
		b.add(p.unit(o.Name), o.Count)
	}
	return b.nano
}

// ceiling adds up amounts, rounded up.
type ceiling struct {
	nano  int64
	bills int64
}

// tokens adds tokens of a side at its highest rate. They may be split over all dimensions,
// each of which is rounded separately, so it adds a nano-dollar for each.
func (c *ceiling) tokens(p *plan, s side, n int64) {
	var dearest *rate
	for d, r := range p.tokens {
		dimSide := dimensions[d].side
		if r != nil && (dimSide == s || s == sideOutput && dimSide == sideFree) && (dearest == nil || dearest.less(r.product)) {
			dearest = r
		}
	}
	if dearest != nil && n > 0 && dearest.product != (product{}) {
		c.add(dearest, n)
		c.nano, _ = plus(c.nano, dimCount*c.bills)
	}
}

func (c *ceiling) add(r *rate, n int64) {
	if r != nil {
		nano, _ := r.times(n, r.per)
		c.nano, _ = plus(c.nano, nano)
	}
}

func (p *plan) dearestSearch(context string) *rate {
	if context != "" {
		return p.search(context)
	}
	var dearest *rate
	for _, r := range p.searches {
		dearest = higherRate(dearest, r)
	}
	return dearest
}

func (p *plan) dearestImage(quality, size string) *rate {
	if quality != "" && size != "" {
		return p.image(quality, size)
	}
	var dearest *rate
	for q, sizes := range p.images {
		if quality == "" || q == quality || q == defaultModel {
			for s, r := range sizes {
				if size == "" || s == size || s == defaultModel {
					dearest = higherRate(dearest, r)
				}
			}
		}
	}
	return dearest
}

// higherRate returns the higher of two rates, of which either may be nil.
func higherRate(a, b *rate) *rate {
	if a == nil || b != nil && a.less(b.product) {
		return b
	}
	return a
}
