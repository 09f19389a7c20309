// Package metering accounts for the money and the limits of model calls. Before a call is sent it
// reserves the maximum cost from all limits that apply and writes a ledger entry; when the call
// has ended it computes the actual charge, closes the entry and releases what was not used. Start
// reading at Meter.Reserve, Meter.Retry, Meter.Close and Meter.Settle.
package metering

import (
	"context"
	"log/slog"
	"time"

	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/tokens"
)

// Limiter contains the counters of limits. *quota.Limiter has those of one node, *redis.Limiter
// those that nodes share.
type Limiter interface {
	// Reserve takes all holds or none. Its error means that the limits cannot be checked.
	Reserve(ctx context.Context, now time.Time, holds []quota.Hold) (refused int, left int64, retry time.Time, err error)
	// Defers reports whether holds are better reserved together with later ones of the same
	// call: alone they would need a round trip to Redis, and they fit by the local counters.
	Defers(now time.Time, holds []quota.Hold) bool
	Settle(now time.Time, holds []quota.Hold, used []int64)
	State(now time.Time, h *quota.Hold) quota.State
}

// Prices looks up what models cost and how much they read and write. *catalog.PriceList
// implements it.
type Prices interface {
	Find(provider, model string, a *catalog.PriceOverrides) *catalog.RateCard
	Loaded(provider string) bool
	ContextLimits(provider, model string) catalog.ContextLimits
}

// Journal stores the ledger entries that no record closes. When AppendLine returns nil, the entry
// survives a crash of the process.
type Journal interface {
	AppendLine(l *ledger.Entry) error
}

// Deps are the dependencies of a Meter. All are required.
type Deps struct {
	Limiter       Limiter
	Prices        Prices
	Journal       Journal
	Counter       *tokens.Counter
	Clock         ident.Clock
	Log           *slog.Logger
	AllowUnpriced bool // calls with unknown cost are allowed even if a cost budget applies
}

// Meter reserves, charges and settles the calls of a gateway. Safe for concurrent use; each
// Account and Caller belongs to one goroutine.
type Meter struct {
	Deps
	sizes *bound.ResponseSizes
	sets  chargeCache
}

// New returns a meter that uses the given dependencies.
func New(d Deps) *Meter { return &Meter{Deps: d, sizes: bound.NewResponseSizes()} }

// ResponseKey returns the key under which the size of a response is stored, for
// Account.SetResponse. It is 0 if the response, a JSON object, does not have an id.
func (m *Meter) ResponseKey(c *bound.Call, response []byte) uint64 { return m.sizes.Key(c, response) }

// ContextLimits returns the highest input and output limits of the models that may answer the
// call of an account.
func (m *Meter) ContextLimits(a *Account, c *bound.Call) catalog.ContextLimits {
	r := m.Prices.ContextLimits(c.Spec.ID, c.PriceName())
	for i := range a.models.Fallbacks {
		r = bound.MaxLimits(r, m.Prices.ContextLimits(c.Spec.ID, a.models.Fallbacks[i].Model))
	}
	return r
}

// price returns the price of a model at the provider of a call.
func (m *Meter) price(a *Account, c *bound.Call, model string) *catalog.RateCard {
	return m.Prices.Find(c.Spec.ID, model, a.terms)
}

// updatePrices updates the prices when the price list was read after the reservation, so that
// the first call of a provider costs the same as later ones.
func (m *Meter) updatePrices(a *Account, c *bound.Call) {
	if !a.early || !m.Prices.Loaded(c.Spec.ID) {
		return
	}
	a.early, a.models.Card = false, m.price(a, c, c.PriceName())
	a.models.Fallbacks = append([]bound.Fallback(nil), a.models.Fallbacks...) // another account may share the list
	for i := range a.models.Fallbacks {
		f := &a.models.Fallbacks[i]
		f.Card = m.price(a, c, f.Model)
	}
}
