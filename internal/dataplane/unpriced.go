package dataplane

import (
	"slices"
	"strconv"
	"time"

	"sluice/internal/catalog"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/quota"
)

// checkPriced refuses an attempt with an unknown cost when a cost budget applies to it: such a
// call would bypass the budget. UNPRICED_MODELS=allow permits it.
func (g *Gateway) checkPriced(a *attempt) error {
	if g.set.AllowUnpriced {
		return nil
	}
	s := a.reservation
	index := slices.IndexFunc(s.holds[:s.rates], func(h quota.Hold) bool { return h.Measure == quota.Cost })
	switch {
	case index < 0:
		return nil
	case !s.tariff.Free() && a.answersWithoutUsage():
		return uncounted(a, &s.holds[index])
	case a.billsNothing():
		return nil
	}
	if !s.tariff.Prices(&s.maxUsage) {
		return unpriced(a, a.priceName(), s.tariff, &s.holds[index])
	}
	for i := range s.falls.list {
		if f := &s.falls.list[i]; !f.tariff.Prices(&s.maxUsage) {
			return unpriced(a, f.model, f.tariff, &s.holds[index])
		}
	}
	return nil
}

// unpriced returns the error for a model without a price.
func unpriced(a *attempt, model string, t *catalog.RateCard, h *quota.Hold) error {
	if t.Reason() == catalog.NotLoaded {
		return fault.Newf(fault.ModelUnpriced, "the prices of %s are being loaded, and a cost budget applies; retry shortly", a.spec.ID).
			WithRetry(time.Second).WithAgain(fault.AgainHelps)
	}
	what := "the model " + strconv.Quote(clip(model)) + " of " + a.spec.ID
	switch {
	case model == "" && a.x.bodyNotParsed && a.x.ctl.Nitro != "true":
		what = "the model of this body, which is not read because it is passed through and is not a JSON object,"
	case model == "" && a.x.bodyNotParsed:
		what = "the model of an unparsed body (x-gateway-nitro-mode)"
	case model == "":
		what = "this call of " + a.spec.ID
	}
	return fault.New(fault.ModelUnpriced, what+" has no price for its possible usage, and "+budgetOwner(h)+" has a cost budget; set pricing_config or base_model_slug of the model in the integration, "+
		`or add it to the price files (MODEL_CONFIGS_PRICING_LOCAL_PATH); if calls are free, set "pricing": "free" on the integration or provider; UNPRICED_MODELS=allow permits such calls`).
		WithParam("model").WithAgain(fault.AgainNever)
}

// uncounted returns the error for a call whose cost the gateway cannot observe, whatever its
// model is.
func uncounted(a *attempt, h *quota.Hold) error {
	return fault.New(fault.ModelUnpriced, "this call of "+a.spec.ID+" begins work whose usage does not come through the gateway, and "+budgetOwner(h)+" has a cost budget; "+
		"call /v1/responses or another endpoint that answers with its usage, or use a key without a cost budget; UNPRICED_MODELS=allow lets such calls through").
		WithAgain(fault.AgainNever)
}

// budgetOwner returns the name of a budget's owner, in texts for callers.
func budgetOwner(h *quota.Hold) string {
	if h.Owner == nil {
		return "a record"
	}
	return "the " + subjectName(h.Owner)
}

// unbilled are the endpoints whose calls are not billed by a model. The work that they start is
// billed elsewhere or costs nothing.
var unbilled = map[llm.Endpoint]bool{llm.UploadFile: true, llm.CreateBatch: true, llm.CreateFinetune: true}

// billsNothing reports whether the provider bills nothing for the call: an upload, or a
// pass-through call to a path that is known to cost nothing.
func (a *attempt) billsNothing() bool {
	ep := a.x.match.Endpoint
	return unbilled[ep] || ep == llm.Proxy && costsNothing(a.spec.Platform, pathSegments(a.x.path))
}
