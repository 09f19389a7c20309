// Package quota holds what bounds traffic. Rates bound requests or tokens in a window
// of time, budgets cost or tokens until the next reset; both stand on records (keys,
// workspaces, providers) and in policies. A policy says whom it is about (conditions)
// and what is counted together (group_by). A Meter is what was used of a budget.
package quota

import (
	"encoding/json"
	"errors"

	"sluice/internal/fault"
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

// Target is the traffic that a policy is about.
type Target string

// The targets.
const (
	Models Target = "llm"       // calls of models
	Tools  Target = "mcp_tools" // calls of the tools of MCP servers
)

// Type is what is counted.
type Type string

// The types.
const (
	Requests Type = "requests" // one before each call, refused ones too
	Tokens   Type = "tokens"   // input and output together, taken after the call
)

// Unit is the window of a limit. Windows are aligned to UTC, weeks to Monday.
// Source: contract/identity-and-governance.md section 7.
type Unit string

// The units: per minute, hour, day and week.
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
	Value    Values `json:"value"` // "*" stands for any value
	Excludes Values `json:"excludes,omitempty"`
}

// GroupBy makes the value of Key part of the name of the counter.
type GroupBy struct {
	Key Key `json:"key"`
}

// Values are one value or several; JSON has a string for one and a list for more.
type Values []string

// UnmarshalJSON takes a string or a list of strings.
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

// Validate says what is wrong with the policy: fault.InvalidParameter, At the
// field. What a JSON schema can say (lengths, words of closed sets) is not
// repeated here.
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
