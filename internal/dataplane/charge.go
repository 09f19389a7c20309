package dataplane

import (
	"sluice/internal/catalog"
	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/ledger"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/record"
	"sluice/internal/tokens"
)

// charge is what a call came to.
type charge struct {
	state ledger.State
	usage llm.Usage
	basis catalog.Basis
	bill  catalog.Cost
}

// outcome is how a call of a provider ended, as far as money is concerned. There is one
// rule for each; docs/money.md has them in a table.
type outcome uint8

const (
	answered            outcome = iota // whole, with a status of success
	refused                            // with an error of the provider
	unsent                             // before the provider could have seen it
	abandoned                          // sent, and nothing usable came back
	broken                             // in the middle of the answer: client gone, upstream cut, stalled, an error in a stream
	inBackground                       // with a response on which the provider works; another attempt follows that
	abandonedBackground                // with an answer or a response of which nobody will hear what it comes to
	parked                             // with a job, whose row has charged the budgets
)

// outcomeFor is how the attempt ended.
func (a *attempt) outcomeFor(o record.Outcome) outcome {
	switch {
	case !a.sentUpstream:
		return unsent
	case a.outcome != answered:
		return a.outcome
	case a.drained && a.upstream >= 400:
		return refused
	case o == record.OK, a.drained, a.counted:
		return answered
	case a.unknowable(a.fault):
		return abandonedBackground
	case !a.committed && !a.bodyReadAt.IsZero() && a.upstream < 400 && a.log().Usage.Reported: // whole, and of no use but for its usage
		return answered
	case a.failing != 0 && len(a.response.body) > 0 && !a.log().Usage.Reported && a.answeredSome():
		return answered
	case !a.committed && a.fault == nil && o == record.Failed: // with an error status, or with one in an answer of success
		return refused
	case a.committed, a.log().BytesOut > 0 && a.upstream < 400:
		return broken
	case a.fault != nil && ofBody(a.fault): // the provider had begun to answer
		return abandoned
	case a.upstream >= 400 || o == record.Failed:
		return refused
	}
	return abandoned
}

// answeredSome reports whether there are words of the model in an answer that says that it
// failed.
func (a *attempt) answeredSome() bool {
	return a.x.g.counter.ResponseBody(a.x.match.Endpoint, a.response.body, a.priceName()).Tokens > 0
}

// retryOutcome is how a call ended that was given up for another try.
func (a *attempt) retryOutcome(err error) outcome {
	switch {
	case !a.sentUpstream:
		return unsent
	case a.outcome != answered:
		return a.outcome
	case err == nil:
		return refused
	case a.job != nil: // which may have begun
		return abandonedBackground
	case a.unknowable(fault.From(err)):
		return abandonedBackground
	}
	return abandoned
}

// charge works out what a call came to. What the provider counted counts, however the call
// ended. Where it counted nothing, an answer is counted here; a call that brought none
// cost its input, unless the provider refused it or never saw it.
func (g *Gateway) charge(a *attempt, e outcome) charge {
	g.priceAgain(a)
	o := charge{state: ledger.Settled, usage: a.log().Usage.Bounded()}
	switch {
	case e == unsent, e == inBackground, e == parked, e == refused && !o.usage.Reported:
		return charge{state: ledger.Released, bill: catalog.Cost{Version: a.reservation.tariff.Version()}}
	case e == abandonedBackground:
		return a.reservation.maxCharge()
	case !o.usage.Reported && transcriptionEndpoints[a.x.match.Endpoint]:
		o.state, o.usage = ledger.Estimated, g.estimateTranscription(a, e != abandoned)
	case !o.usage.Reported && a.x.match.Endpoint == llm.CreateSpeech && a.reservation.tariff.PricesSpeechByToken():
		o.state, o.usage = ledger.Estimated, g.estimateSpeech(a, e != abandoned)
	case e == broken:
		o.state, o.usage = ledger.Estimated, g.estimatedUsage(a, o.usage, true)
	case !o.usage.Reported && a.countableEndpoint() != "":
		o.state, o.usage = ledger.Estimated, g.estimatedUsage(a, o.usage, e != abandoned)
	}
	model, tariff := g.billed(a)
	o.basis = catalog.NewBasis(a.x.match.Endpoint, model, a.model, &a.reservation.maxUsage, &o.usage)
	if o.usage.Tier == llm.UsualTier {
		o.usage.Tier = "" // as the basis says now, and as nearly every record would
	}
	o.basis.Other = append(o.basis.Other, a.pages(o.usage.Pages)...)
	u := o.basis.Units(a.x.match.Endpoint, &o.usage)
	u.StartedAt = a.started
	mem := a.x.scratch
	o.bill = tariff.Cost(&u, mem.terms)
	mem.terms = o.bill.Terms
	return o
}

// maxCharge is the bound of a call: what it came to as far as limits are concerned where nobody
// can say.
func (s *reservation) maxCharge() charge {
	maximum := llm.Usage{InputTokens: s.maxUsage.Input, OutputTokens: s.maxUsage.Output}
	return charge{state: ledger.Unknown, usage: maximum, bill: catalog.Cost{Cost: s.maxCostNano, Version: s.tariff.Version(), Reason: s.tariff.Reason()}}
}

// estimatedUsage is a usage with what the provider did not count counted here. Of a stream that
// broke the larger count holds: a provider that counts as it goes may not have come to
// the end.
func (g *Gateway) estimatedUsage(a *attempt, u llm.Usage, hasResponse bool) llm.Usage {
	ep, model := a.countableEndpoint(), a.priceName()
	switch {
	case ep == "" || a.x.doc == nil && !a.x.bodyNotParsed:
		return u
	case u.InputTokens == 0 && a.x.bodyNotParsed:
		u.InputTokens = a.x.sent() / unreadBytes
	case u.InputTokens == 0:
		u.InputTokens = g.counter.Request(ep, a.fullRequestBody(), model).Tokens
	}
	if hasResponse {
		countedTokens := g.countOutput(a, ep, model)
		if maximum := a.reservation.maxUsage.Output; maximum > 0 { // an estimate does not pass what was held
			countedTokens = min(countedTokens, maximum)
		}
		u.OutputTokens = max(u.OutputTokens, countedTokens)
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// unreadBytes is how many bytes of a body that is not read are taken for a token: as many as a
// usual text has.
const unreadBytes = 4

// unkeptBytes is how many bytes of an answer of which nothing is kept are taken for a token.
// An event of a stream has more and brings one.
const unkeptBytes = 64

// countOutput counts the answer: as the caller gets it or else as far as it is kept; of a longer
// one the rest counts alike.
func (g *Gateway) countOutput(a *attempt, ep llm.Endpoint, model string) int64 {
	if len(a.response.body) > 0 {
		if eventStream(a.response.header) { // of an answer that came whole
			return g.counter.Text(tokens.EventText(a.response.body), model).Tokens
		}
		return g.counter.ResponseBody(ep, a.response.body, model).Tokens
	}
	body := &a.log().Response
	if a.raw.max > 0 { // in the words that are counted
		body = &a.log().ClientResponse
	}
	if len(body.Bytes) == 0 {
		return body.Size / unkeptBytes
	}
	var n int64
	if b := body.Plain(maxUsageBodyBytes); a.hasEventBody() {
		n = g.counter.Text(tokens.EventText(b), model).Tokens
	} else {
		n = g.counter.ResponseBody(ep, b, model).Tokens
	}
	if storedBytes := int64(len(body.Bytes)); body.Size > storedBytes {
		n = int64(float64(n) * float64(body.Size) / float64(storedBytes))
	}
	return n
}

// spend is what the record of the attempt says.
func (s *reservation) spend(r *scratch) record.Spend {
	o := &s.finalCharge
	p := record.Spend{State: o.state.String(), Cost: o.bill.Cost, Saved: o.bill.Saved, MaxCost: s.maxCostNano, Version: o.bill.Version, Unpriced: o.bill.MissingPrice(), Basis: o.basis.Text()}
	r.termText = writeTerms(r.termText[:0], o.bill.Terms)
	p.Terms = string(r.termText)
	return p
}

// writeTerms writes how a cost comes about, as json.Marshal would and without allocating;
// nothing for no terms:
//
//	[{"dimension":"input","key":"request_token","units":1200,"per":1,"rate":"0.0000025","factor":"1","nano":3000000}]
func writeTerms(b []byte, terms []catalog.Term) []byte {
	if len(terms) == 0 {
		return b
	}
	w := dialect.JSON{B: b}
	w.Open('[')
	for i := range terms {
		t := &terms[i]
		w.Open('{')
		w.Str("dimension", t.Dimension)
		w.Str("key", t.Key)
		w.Int("units", t.Units)
		w.Int("per", t.Per)
		w.Str("rate", t.Rate)
		w.Str("factor", t.Factor)
		w.Int("nano", t.Nano)
		w.Close('}')
	}
	w.Close(']')
	return w.B
}

// usedUnits are what was used, in the units of each hold.
func (r *scratch) usedUnits(holds []quota.Hold, o *charge) []int64 {
	r.used = r.used[:0]
	for i := range holds {
		r.used = append(r.used, o.amount(holds[i].Measure))
	}
	return r.used
}

// amount is what was used of a measure.
func (o *charge) amount(m quota.Measure) int64 {
	switch {
	case o.state == ledger.Released:
		return 0
	case m == quota.Calls:
		return 1
	case m == quota.TokenCount:
		return max(o.usage.TotalTokens, o.usage.InputTokens+o.usage.OutputTokens)
	}
	return o.bill.Cost
}

// charged are the charges of budgets: what is held of each while the line is reserved,
// and what was used once it is closed.
func (r *scratch) charged(budgets []quota.Hold, o *charge) []ledger.Charge {
	r.charges = r.charges[:0]
	for i := range budgets {
		h := &budgets[i]
		n := h.Amount
		if o != nil {
			n = o.amount(h.Measure)
		}
		r.charges = append(r.charges, ledger.Charge{Subject: h.Counter.Subject, Entry: h.Counter.Entry, ValueKey: h.Counter.ValueKey, Units: n, Cost: h.Measure == quota.Cost})
	}
	return r.charges
}
