package quota

import (
	"slices"

	"sluice/internal/kernel/fault"
)

// Rate is the number of requests or tokens that a subject allows in each window of time.
// Source: contract/identity-and-governance.yaml, RateLimit; .md section 7.
type Rate struct {
	Type  Type  `json:"type"`
	Unit  Unit  `json:"unit"`
	Value int64 `json:"value"` // 0 on an integration in a workspace rejects everything
}

// MaxRate is the maximum value of a rate.
const MaxRate = 1_000_000_000_000

var (
	types = []Type{Requests, Tokens}
	units = []Unit{PerMinute, PerHour, PerDay, PerWeek}
)

func (r *Rate) validate(path string) error {
	bad := func(field, text string) error { return fault.New(fault.InvalidParameter, text).WithParam(path + field) }
	switch {
	case !slices.Contains(types, r.Type):
		return bad("type", "must be requests or tokens")
	case !slices.Contains(units, r.Unit):
		return bad("unit", "must be one of rpm, rph, rpd, rpw")
	case r.Value < 0 || r.Value > MaxRate:
		return bad("value", "must be between 0 and 1000000000000")
	}
	return nil
}
