package metering

import (
	"slices"

	"sluice/internal/gateway/metering/bound"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// Outcome is the way a call of a provider ended, as far as billing is concerned. Each outcome has
// one billing rule; docs/money.md has them in a table.
type Outcome uint8

// These are the outcomes. The zero value is Answered.
const (
	Answered            Outcome = iota // the response is complete and has a success status
	Refused                            // the provider returned an error
	Unsent                             // the call failed before the provider could have received it
	Abandoned                          // the call was sent and returned nothing usable
	Broken                             // the response ended early: client gone, upstream cut, stalled, an error in a stream
	InBackground                       // the provider still works on the response; another attempt follows it
	AbandonedBackground                // the provider may continue, and its final usage cannot be learned
	Parked                             // the call created a job, whose row has charged the budgets
)

// Account is the money of one attempt: its maximum cost, the holds on limits for that, and the
// ledger entry that records both. An entry is reserved before each call of the provider, and
// closed with the actual cost of the call. A nil Account belongs to an attempt that is not
// metered: it holds nothing. An Account belongs to the goroutine of its attempt; only Meter and
// the methods here change it.
type Account struct {
	models  bound.Models
	terms   *catalog.PriceOverrides // of the saved provider; nil: list prices apply
	early   bool                    // the provider's price list was not read yet: built-in prices are used
	later   bool                    // a job: rates count its tokens when it is settled
	length  bound.Length
	max     catalog.Limits
	maxNano int64 // cost of max, in nano-dollars

	entry  ledger.Entry
	open   bool         // the entry is reserved and not closed
	holds  []quota.Hold // budgets, then rates
	rates  int          // index of the first rate in holds
	moved  bool         // the holds of budgets and of token rates now belong to another account
	charge Charge       // what the attempt used and cost, once its entry is closed

	sent     bool    // the call may have reached the provider
	outcome  Outcome // InBackground or later, if the gateway knows it; otherwise the response determines the outcome
	response uint64  // key of the response; 0 without one
	mem      buffers
}

// buffers is the memory that an account uses again for the next call and the next request.
type buffers struct {
	holds    []quota.Hold // of the last call that reached its limits
	rates    []quota.Hold // the rates among them, while they are collected
	again    []quota.Hold // of a retry, or those to release
	used     []int64      // in the units of holds
	charges  []ledger.Charge
	closing  []byte // the closing entry
	terms    []catalog.Term
	termText []byte
}

// Reset clears the account for the next request. It keeps the buffers, and nothing in them refers
// to the request afterwards.
func (a *Account) Reset() {
	clear(a.mem.holds[:cap(a.mem.holds)])
	clear(a.mem.rates[:cap(a.mem.rates)])
	clear(a.mem.again[:cap(a.mem.again)])
	clear(a.mem.charges[:cap(a.mem.charges)])
	a.mem.holds = a.mem.holds[:0]
	a.Begin()
}

// Begin clears the account for the next attempt of the same request.
func (a *Account) Begin() {
	mem := a.mem
	*a = Account{}
	a.mem = mem
}

// IsOpen reports whether a ledger entry is reserved and not closed.
func (a *Account) IsOpen() bool { return a != nil && a.open }

// SetSent records whether the call may have reached the provider.
func (a *Account) SetSent(sent bool) {
	if a != nil {
		a.sent = sent
	}
}

// IsSent reports whether the call may have reached the provider.
func (a *Account) IsSent() bool { return a != nil && a.sent }

// SetOutcome sets an outcome that the response does not show: InBackground, AbandonedBackground
// or Parked.
func (a *Account) SetOutcome(o Outcome) {
	if a != nil {
		a.outcome = o
	}
}

// Outcome returns the outcome that was set, or Answered.
func (a *Account) Outcome() Outcome {
	if a == nil {
		return Answered
	}
	return a.outcome
}

// SetResponse sets the key of the response, from Meter.ResponseKey. When the account is closed,
// the size of the response is stored for the calls that continue it.
func (a *Account) SetResponse(key uint64) {
	if a != nil {
		a.response = key
	}
}

// Card returns the prices of the first model that the call names. It is nil until the call is
// priced.
func (a *Account) Card() *catalog.RateCard { return a.models.Card }

// SetCard replaces the prices, when the model is found after the reservation began.
func (a *Account) SetCard(card *catalog.RateCard) { a.models.Card = card }

// MaxUsage returns the maximum usage of the call. The result must not be changed.
func (a *Account) MaxUsage() *catalog.Limits { return &a.max }

// MaxCostNano returns the maximum cost of the call, in nano-dollars.
func (a *Account) MaxCostNano() int64 { return a.maxNano }

// SetMax sets the maximum usage and cost of a job, in nano-dollars. Meter.Collect applies it to
// the holds.
func (a *Account) SetMax(usage catalog.Limits, costNano int64) { a.max, a.maxNano = usage, costNano }

// CountTokensLater marks the call of a job. Rates count its tokens when the job has ended.
func (a *Account) CountTokensLater() { a.later = true }

// Budgets returns the holds on budgets, with the amount that each reserves. The result must not
// be changed; it is valid until the account is settled.
func (a *Account) Budgets() []quota.Hold { return a.holds[:a.rates] }

// HasCostBudget reports whether a budget of money applies to the call.
func (a *Account) HasCostBudget() bool {
	return a != nil && slices.ContainsFunc(a.Budgets(), func(h quota.Hold) bool { return h.Measure == quota.Cost })
}

// Charge returns the usage and cost of the last closed entry.
func (a *Account) Charge() *Charge { return &a.charge }

// Follow sets a to the account of a call that outlives the request of from, with all its holds.
// The caller must then open a, and hand over from once that has succeeded: until then both have
// the holds.
func (a *Account) Follow(from *Account) {
	a.copyFrom(from)
	a.holds = slices.Clone(from.holds)
}

// Continue is Follow without the requests of rates, which from has used already.
func (a *Account) Continue(from *Account) {
	a.copyFrom(from)
	a.response = 0
	a.holds = withoutSpent(nil, from.holds)
	a.models.Fallbacks = slices.Clone(a.models.Fallbacks)
}

func (a *Account) copyFrom(from *Account) {
	mem := a.mem
	*a = *from
	a.mem, a.open, a.outcome = mem, false, Answered
}

// HandOver drops the holds, which an account that follows now has.
func (a *Account) HandOver() { a.outcome, a.holds, a.rates = InBackground, nil, 0 }

// HandOverRest is HandOver after Continue: the account still has its requests of rates.
func (a *Account) HandOverRest() { a.outcome, a.moved = InBackground, true }
