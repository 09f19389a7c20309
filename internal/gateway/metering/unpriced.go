package metering

import (
	"slices"
	"strconv"
	"time"

	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
)

// checkPriced refuses a call with an unknown cost when a cost budget applies to it: such a call
// would bypass the budget. UNPRICED_MODELS=allow permits it.
func (m *Meter) checkPriced(a *Account, c *bound.Call) error {
	if m.AllowUnpriced {
		return nil
	}
	budgets := a.Budgets()
	index := slices.IndexFunc(budgets, func(h quota.Hold) bool { return h.Measure == quota.Cost })
	switch {
	case index < 0:
		return nil
	case !a.models.Card.Free() && c.AnswersWithoutUsage():
		return uncounted(c, &budgets[index])
	case c.IsFree():
		return nil
	}
	if !a.models.Card.Prices(&a.max) {
		return unpriced(c, c.PriceName(), a.models.Card, &budgets[index])
	}
	for i := range a.models.Fallbacks {
		if f := &a.models.Fallbacks[i]; !f.Card.Prices(&a.max) {
			return unpriced(c, f.Model, f.Card, &budgets[index])
		}
	}
	return nil
}

// unpriced returns the error for a model without a price.
func unpriced(c *bound.Call, model string, t *catalog.RateCard, h *quota.Hold) error {
	if t.Reason() == catalog.NotLoaded {
		return fault.Newf(fault.ModelUnpriced, "the prices of %s are being loaded, and a cost budget applies; retry shortly", c.Spec.ID).
			WithRetry(time.Second).WithAgain(fault.AgainHelps)
	}
	what := "the model " + strconv.Quote(fault.Clip(model)) + " of " + c.Spec.ID
	switch {
	case model == "" && c.Unread && !c.Nitro:
		what = "the model of this body, which is not read because it is passed through and is not a JSON object,"
	case model == "" && c.Unread:
		what = "the model of an unparsed body (x-gateway-nitro-mode)"
	case model == "":
		what = "this call of " + c.Spec.ID
	}
	return fault.New(fault.ModelUnpriced, what+" has no price for its possible usage, and "+budgetOwner(h)+" has a cost budget; set pricing_config or base_model_slug of the model in the integration, "+
		`or add it to the price files (MODEL_CONFIGS_PRICING_LOCAL_PATH); if calls are free, set "pricing": "free" on the integration or provider; UNPRICED_MODELS=allow permits such calls`).
		WithParam("model").WithAgain(fault.AgainNever)
}

// uncounted returns the error for a call whose cost the gateway cannot observe, whatever its
// model is.
func uncounted(c *bound.Call, h *quota.Hold) error {
	return fault.New(fault.ModelUnpriced, "this call of "+c.Spec.ID+" begins work whose usage does not come through the gateway, and "+budgetOwner(h)+" has a cost budget; "+
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
