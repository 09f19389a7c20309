package dataplane

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/catalog"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/quota"
)

// checkPriced refuses an attempt whose cost nobody knows where a cost budget binds it: such
// a call would pass any budget of dollars. UNPRICED_MODELS=allow lets it through.
func (g *Gateway) checkPriced(a *attempt) error {
	if g.set.AllowUnpriced {
		return nil
	}
	s := a.stake
	at := slices.IndexFunc(s.holds[:s.rates], func(h quota.Hold) bool { return h.Measure == quota.Cost })
	if at < 0 || a.billsNothing() {
		return nil
	}
	if !s.tariff.Prices(&s.most) {
		return unpriced(a, a.priceName(), s.tariff, &s.holds[at])
	}
	for i := range s.falls.list {
		if f := &s.falls.list[i]; !f.tariff.Prices(&s.most) {
			return unpriced(a, f.model, f.tariff, &s.holds[at])
		}
	}
	return nil
}

// unpriced is the refusal of a model without a price.
func unpriced(a *attempt, model string, t *catalog.Tariff, h *quota.Hold) error {
	if t.Reason() == catalog.NotLoaded {
		return fault.Newf(fault.ModelUnpriced, "the prices of %s are being read, and a cost budget applies; try again shortly", a.spec.ID).
			WithRetry(time.Second).WithAgain(fault.AgainHelps)
	}
	what := "the model " + strconv.Quote(clip(model)) + " of " + a.spec.ID
	switch {
	case model == "" && a.x.unread:
		what = "the model of a body that is not read (x-gateway-nitro-mode)"
	case model == "":
		what = "this call of " + a.spec.ID
	}
	who := "a record"
	if h.Of != nil {
		who = "the " + ownerName(h.Of)
	}
	return fault.New(fault.ModelUnpriced, what+" has no price for what it may use, and "+who+" has a cost budget; set pricing_config or base_model_slug of the model in the integration, "+
		`or add it to the price files (MODEL_CONFIGS_PRICING_LOCAL_PATH); where calls cost nothing set "pricing": "free" on the integration or provider; UNPRICED_MODELS=allow lets such calls through`).
		At("model").WithAgain(fault.AgainNever)
}

// unbilled are the endpoints whose calls are not billed by a model: what they begin is
// billed elsewhere or costs nothing.
var unbilled = map[llm.Endpoint]bool{llm.UploadFile: true, llm.CreateBatch: true, llm.CreateFinetune: true}

// stores are the resources of providers that keep something and have no model work.
var stores = map[string]bool{
	"files": true, "uploads": true, "vector_stores": true, "cachedContents": true, "collections": true, "containers": true, "conversations": true,
	"batches": true, "fine_tuning": true, "operations": true, "assistants": true, "upload": true,
}

// billsNothing reports whether the call names no model and is none that has one work: an
// upload, or a call that is passed through with neither a model nor a path that takes one.
func (a *attempt) billsNothing() bool {
	switch {
	case unbilled[a.x.match.Endpoint]:
		return true
	case a.x.match.Endpoint != llm.Proxy || a.priceName() != "":
		return false
	case !a.byPath:
		return true
	}
	for name := range strings.SplitSeq(a.x.path, "/") {
		if stores[name] {
			return true
		}
	}
	return false
}
