// Package quota contains the limits of traffic. Rates limit requests or tokens in a window of
// time; budgets limit cost or tokens until the next reset. Both are set on records (keys,
// workspaces, providers) and in policies, which select calls by conditions and count them by
// group_by. A Meter is the usage of a budget. Start reading at Limiter, which holds the
// counters.
package quota

import (
	"encoding/json"
	"errors"

	"sluice/internal/kernel/fault"
)

// RateLimitKind is the kind of the stored record of a RateLimit.
const RateLimitKind = "rate_limit_policy"

// RateLimit is the stored body of a rate-limit policy: at most Value requests or
// tokens in each window of Unit, for each group that GroupBy makes of the requests
// that meet all Conditions.
// Source: contract/identity-and-governance.yaml, RateLimitsPolicy.
type RateLimit struct {
	Name        string      `json:"name,omitempty"`        // at most 255 bytes
	Description string      `json:"description,omitempty"` // at most 500 bytes
	Conditions  []Condition `json:"conditions"`
	GroupBy     []GroupBy   `json:"group_by,omitempty"` // empty: one counter for all
	Type        Type        `json:"type"`
	Unit        Unit        `json:"unit"`
	Value       int64       `json:"value"`            // at least 1
	Target      Target      `json:"target,omitempty"` // Models when empty
}

// Target is the traffic that a policy applies to.
type Target string

// These are the targets.
const (
	Models Target = "llm"       // calls of models
	Tools  Target = "mcp_tools" // calls of the tools of MCP servers
)

// Type is what a rate counts.
type Type string

// These are the types.
const (
	Requests Type = "requests" // one before each call, including rejected calls
	Tokens   Type = "tokens"   // input and output together, taken after the call
)

// Unit is the window of a limit. Windows are aligned to UTC, weeks to Monday.
// Source: contract/identity-and-governance.md section 7.
type Unit string

// These are the units: per minute, hour, day and week.
const (
	PerMinute Unit = "rpm"
	PerHour   Unit = "rph"
	PerDay    Unit = "rpd"
	PerWeek   Unit = "rpw"
)

// Condition is met by requests whose Key has one of the Value and none of the
// Excludes. A request without the key does not meet it.
type Condition struct {
	Key      Key    `json:"key"`
	Value    Values `json:"value"` // "*" matches any value
	Excludes Values `json:"excludes,omitempty"`
}

// GroupBy makes the value of Key part of the name of the counter.
type GroupBy struct {
	Key Key `json:"key"`
}

// Values is one value or several. In JSON one value is a string and several are a list.
type Values []string

// UnmarshalJSON reads a string or a list of strings.
func (v *Values) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*v = Values{one}
		return nil
	}
	var many []string
	if json.Unmarshal(b, &many) != nil {
		return errors.New("a string or a list of strings")
	}
	*v = many
	return nil
}

// MarshalJSON writes one value as a string.
func (v Values) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return json.Marshal(v[0])
	}
	return json.Marshal([]string(v))
}

// Validate returns fault.InvalidParameter for the first invalid field. It does not repeat the
// checks of the JSON schema (lengths, closed sets of values).
func (p *RateLimit) Validate() error {
	if len(p.Conditions) == 0 {
		return fault.New(fault.InvalidParameter, "must have at least one condition").WithParam("conditions")
	}
	if p.Value < 1 {
		return fault.New(fault.InvalidParameter, "must be at least 1").WithParam("value")
	}
	if err := (&Rate{Type: p.Type, Unit: p.Unit, Value: p.Value}).validate(""); err != nil {
		return err
	}
	for i, c := range p.Conditions {
		if err := c.validate(path("conditions", i)); err != nil {
			return err
		}
	}
	if err := checkSatisfiable(p.Conditions); err != nil {
		return err
	}
	return validateGroups(p.GroupBy)
}
