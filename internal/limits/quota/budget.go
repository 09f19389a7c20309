package quota

import (
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Measure is the unit that a budget counts.
type Measure string

// These are the measures. Only policies count Calls.
const (
	Cost       Measure = "cost"     // US dollars; also when empty
	TokenCount Measure = "tokens"   // input and output together
	Calls      Measure = "requests" // one for each call
)

// nanoPerDollar is the number of units of cost in a dollar.
const nanoPerDollar = 1_000_000_000

// Units converts an amount to units of usage: nano-dollars, or tokens and requests, rounded up
// to a whole number.
func (m Measure) Units(a Amount) int64 {
	if m == TokenCount || m == Calls {
		return int64((a + One - 1) / One)
	}
	return int64(a) * (nanoPerDollar / int64(One))
}

// Text formats a usage for people: "0.25" for 250000000 nano-dollars.
func (m Measure) Text(units int64) string {
	if m == TokenCount || m == Calls {
		return decimals(units, 0)
	}
	return decimals(units, 9)
}

// Budget is how much of a measure may be used, in total or until the next reset. Records store
// it in this form; the API uses the same form without ID.
// Source: contract/identity-and-governance.yaml, UsageLimit; .md section 6.
type Budget struct {
	ID      string  `json:"id,omitempty"` // UUID of the limit; its usage is stored under it
	Measure Measure `json:"type,omitempty"`
	// ImpliedType is set if the request did not contain the type. Responses then omit it too.
	ImpliedType    bool    `json:"type_implied,omitempty"`
	CreditLimit    Amount  `json:"credit_limit"`
	AlertThreshold *Amount `json:"alert_threshold,omitempty"` // below CreditLimit; nil for none
	Mode           Mode    `json:"mode,omitempty"`
	Period
}

// Mode decides what a budget does when calls in progress might use it up.
type Mode string

// These are the modes. Empty means Strict.
const (
	Strict  Mode = "strict" // reject a call that might exceed the limit
	Lenient Mode = "soft"   // reject only once the limit is reached: calls in progress may exceed it
)

// Shown returns the mode, or Strict if it is empty.
func (m Mode) Shown() Mode {
	if m == "" {
		return Strict
	}
	return m
}

// Soft reports whether calls in progress may exceed the limit.
func (b *Budget) Soft() bool { return b.Mode == Lenient }

// Limit returns CreditLimit in units of usage.
func (b *Budget) Limit() int64 { return b.Measure.Units(b.CreditLimit) }

// Threshold returns AlertThreshold in units of usage, 0 for none.
func (b *Budget) Threshold() int64 {
	if b.AlertThreshold == nil {
		return 0
	}
	return b.Measure.Units(*b.AlertThreshold)
}

// Rules are the additional rules of a kind of subject for its budgets.
type Rules struct {
	Field     string // name of the field: "usage_limits"
	MaxItems  int    // budgets in one list, at most 20; 0 means 1
	MinTokens Amount // minimum limit of tokens; 0 means One
	Calls     bool   // requests may be counted
}

// maxBudgets is the maximum length of a list of budgets.
const maxBudgets = 20

// validate checks one budget. path is the prefix of its fields, "usage_limits." or "".
func (b *Budget) validate(path string, r Rules) error {
	bad := func(field, text string) error { return fault.New(fault.InvalidParameter, text).WithParam(path + field) }
	minLimit := One
	if b.Measure == TokenCount {
		minLimit = max(r.MinTokens, One)
	}
	switch {
	case b.Measure == "":
		b.Measure, b.ImpliedType = Cost, true
	case b.Measure == Calls && r.Calls, b.Measure == Cost, b.Measure == TokenCount:
	default:
		return bad("type", "must be cost or tokens")
	}
	switch b.Mode {
	case Strict:
		b.Mode = ""
	case "", Lenient:
	default:
		return bad("mode", "must be strict or soft")
	}
	switch {
	case b.CreditLimit < minLimit:
		return bad("credit_limit", "must be at least "+minLimit.String())
	case b.Measure == Cost && b.CreditLimit > MaxCost:
		return bad("credit_limit", "must be at most "+MaxCost.String())
	case b.Measure != Cost && b.CreditLimit%One != 0:
		return bad("credit_limit", "must be a whole number of "+string(b.Measure))
	case b.Measure != Cost && b.AlertThreshold != nil && *b.AlertThreshold%One != 0:
		return bad("alert_threshold", "must be a whole number of "+string(b.Measure))
	case b.AlertThreshold != nil && *b.AlertThreshold < One:
		return bad("alert_threshold", "must be at least 1; omit it for no alert")
	case b.AlertThreshold != nil && *b.AlertThreshold >= b.CreditLimit:
		return bad("alert_threshold", "must be less than credit_limit")
	}
	return b.Period.validate(path)
}

// InheritIDs gives the budgets of list the ids of the budgets that they replace, so that their
// usage continues. It first matches budgets with the same measure and period, then those with
// the same measure. A budget that replaces none gets a new id and starts without usage.
func InheritIDs(list, before []Budget) {
	taken := make([]bool, len(before))
	pick := func(b *Budget, alike func(old *Budget) bool) {
		for i := range before {
			if b.ID == "" && !taken[i] && before[i].Measure == b.Measure && alike(&before[i]) {
				b.ID, taken[i] = before[i].ID, true
			}
		}
	}
	for i := range list {
		list[i].ID = ""
		pick(&list[i], func(old *Budget) bool { return old.Same(list[i].Period) })
	}
	for i := range list {
		pick(&list[i], func(*Budget) bool { return true })
		if list[i].ID == "" {
			list[i].ID = ident.NewID()
		}
	}
}

// Same reports whether two periods repeat in the same way.
func (p Period) Same(q Period) bool { return p.Every == q.Every && p.Days == q.Days }

// begin returns the start of the UTC day that contains t.
func begin(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}
