package dataplane

import (
	"sluice/internal/catalog"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/fault"
	"sluice/internal/ledger"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/record"
	"sluice/internal/tokens"
)

// charge is the final usage and cost of a call.
type charge struct {
	state ledger.State
	usage llm.Usage
	basis catalog.Basis
	bill  catalog.Cost
}

// outcome is the way a call of a provider ended, as far as billing is concerned. Each outcome has
// one billing rule; docs/money.md has them in a table.
type outcome uint8

const (
	answered            outcome = iota // the response is complete and has a success status
	refused                            // the provider returned an error
	unsent                             // the call failed before the provider could have received it
	abandoned                          // the call was sent and returned nothing usable
	broken                             // the response ended early: client gone, upstream cut, stalled, an error in a stream
	inBackground                       // the provider still works on the response; another attempt follows it
	abandonedBackground                // the provider may continue, and its final usage cannot be learned
	parked                             // the call created a job, whose row has charged the budgets
)

// outcomeFor returns the billing outcome of an attempt that is recorded with o.
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
	case !a.committed && !a.bodyReadAt.IsZero() && a.upstream < 400 && a.log().Usage.Reported: // complete, but only its usage can be used
		return answered
	case a.failing != 0 && len(a.response.body) > 0 && !a.log().Usage.Reported && a.answeredSome():
		return answered
	case !a.committed && a.fault == nil && o == record.Failed: // an error status, or an error in a response with a success status
		return refused
	case a.committed, a.log().BytesOut > 0 && a.upstream < 400:
		return broken
	case a.fault != nil && ofBody(a.fault): // the provider had begun to respond
		return abandoned
	case a.upstream >= 400 || o == record.Failed:
		return refused
	}
	return abandoned
}

// answeredSome reports whether a response that reports a failure contains text of the model.
func (a *attempt) answeredSome() bool {
	return a.x.g.counter.ResponseBody(a.x.match.Endpoint, a.response.body, a.priceName()).Tokens > 0
}

// retryOutcome returns the billing outcome of a call that was abandoned for a retry.
func (a *attempt) retryOutcome(err error) outcome {
	switch {
	case !a.sentUpstream:
		return unsent
	case a.outcome != answered:
		return a.outcome
	case err == nil:
		return refused
	case a.job != nil: // the job may have begun
		return abandonedBackground
	case a.unknowable(fault.From(err)):
		return abandonedBackground
	}
	return abandoned
}

// charge computes the usage and cost of a call. Usage that the provider reported is billed,
// however the call ended. Otherwise the gateway counts the response. A call without a
// response costs its input, unless the provider refused it or never received it.
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
		o.usage.Tier = "" // the basis reflects it; nearly every record would repeat it
	}
	o.basis.Other = append(o.basis.Other, a.pages(o.usage.Pages)...)
	u := o.basis.Units(a.x.match.Endpoint, &o.usage)
	u.StartedAt = a.started
	mem := a.x.scratch
	o.bill = tariff.Cost(&u, mem.terms)
	mem.terms = o.bill.Terms
	return o
}

// maxCharge returns the maximum cost of a call as its charge, for limits. It is used when the
// actual usage cannot be determined.
func (s *reservation) maxCharge() charge {
	maximum := llm.Usage{InputTokens: s.maxUsage.Input, OutputTokens: s.maxUsage.Output}
	return charge{state: ledger.Unknown, usage: maximum, bill: catalog.Cost{Cost: s.maxCostNano, Version: s.tariff.Version(), Reason: s.tariff.Reason()}}
}

// estimatedUsage returns u with the counts that the provider did not report, counted here. For a
// stream that ended early the larger output count is used, because a provider that reports counts
// while it streams may not have reported the last ones.
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
		if maximum := a.reservation.maxUsage.Output; maximum > 0 { // an estimate does not exceed the reserved output
			countedTokens = min(countedTokens, maximum)
		}
		u.OutputTokens = max(u.OutputTokens, countedTokens)
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// unreadBytes is the number of bytes that count as one token in a body that is not parsed, as in
// typical text.
const unreadBytes = 4

// unkeptBytes is the number of bytes that count as one token in a response of which nothing is
// stored. A stream event is larger and contains one token.
const unkeptBytes = 64

// countOutput counts the tokens of the response: of the complete body that the caller gets, or of
// the part that is stored. If only a part is stored, the count is scaled up to the full size.
func (g *Gateway) countOutput(a *attempt, ep llm.Endpoint, model string) int64 {
	if len(a.response.body) > 0 {
		if eventStream(a.response.header) { // of a response that was buffered
			return g.counter.Text(tokens.EventText(a.response.body), model).Tokens
		}
		return g.counter.ResponseBody(ep, a.response.body, model).Tokens
	}
	body := &a.log().Response
	if a.raw.Max > 0 { // the caller's format, which the counter reads
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

// spend returns the money part of the attempt's record.
func (s *reservation) spend(r *scratch) record.Spend {
	o := &s.finalCharge
	p := record.Spend{State: o.state.String(), Cost: o.bill.Cost, Saved: o.bill.Saved, MaxCost: s.maxCostNano, Version: o.bill.Version, Unpriced: o.bill.MissingPrice(), Basis: o.basis.Text()}
	r.termText = writeTerms(r.termText[:0], o.bill.Terms)
	p.Terms = string(r.termText)
	return p
}

// writeTerms appends the terms of a cost to b as json.Marshal would, without allocating. It appends
// nothing for no terms:
//
//	[{"dimension":"input","key":"request_token","units":1200,"per":1,"rate":"0.0000025","factor":"1","nano":3000000}]
func writeTerms(b []byte, terms []catalog.Term) []byte {
	if len(terms) == 0 {
		return b
	}
	w := jsonwriter.Writer{B: b}
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

// usedUnits returns the usage in the units of each hold. The slice is valid until the next call.
func (r *scratch) usedUnits(holds []quota.Hold, o *charge) []int64 {
	r.used = r.used[:0]
	for i := range holds {
		r.used = append(r.used, o.amount(holds[i].Measure))
	}
	return r.used
}

// amount returns the usage in the units of a measure: requests, tokens or nano-dollars.
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

// charged returns the charges of budgets: the held amounts while the entry is reserved (o is nil),
// and the usage once it is closed. The slice is valid until the next call.
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
