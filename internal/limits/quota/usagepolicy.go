package quota

import (
	"crypto/sha256"
	"encoding/hex"

	"sluice/internal/kernel/fault"
)

// UsageLimitKind is the kind of the stored record of a UsageLimit.
const UsageLimitKind = "usage_limit_policy"

// UsageLimit is the stored body of a usage-limit policy: a budget for each group that
// GroupBy makes of the requests that meet all Conditions.
// Source: contract/identity-and-governance.yaml, UsageLimitsPolicy.
type UsageLimit struct {
	Name        string      `json:"name,omitempty"`        // at most 255 bytes
	Description string      `json:"description,omitempty"` // at most 500 bytes
	Conditions  []Condition `json:"conditions"`
	GroupBy     []GroupBy   `json:"group_by,omitempty"` // empty: one counter for all
	Budget                  // without ID
}

// minPolicyTokens is the minimum limit of tokens on policies and integrations.
// Source: contract/identity-and-governance.md section 6, Types.
const minPolicyTokens = 100 * One

// MinTokens returns that minimum, for the Rules of those subjects.
func MinTokens() Amount { return minPolicyTokens }

// Validate returns fault.InvalidParameter for the first invalid field.
func (p *UsageLimit) Validate() error {
	if len(p.Conditions) == 0 {
		return fault.New(fault.InvalidParameter, "must have at least one condition").WithParam("conditions")
	}
	for i, c := range p.Conditions {
		if c.Key == "endpoint_type" {
			return fault.New(fault.InvalidParameter, "endpoint_type is supported only in rate-limit policies").WithParam(path("conditions", i) + ".key")
		}
		if err := c.validate(path("conditions", i)); err != nil {
			return err
		}
	}
	if err := checkSatisfiable(p.Conditions); err != nil {
		return err
	}
	if err := validateGroups(p.GroupBy); err != nil {
		return err
	}
	return p.Budget.validate("", Rules{MinTokens: minPolicyTokens, Calls: true})
}

// EntryOf returns the entry of the counter of a value key, its SHA-256 digest in hex. Two keys
// have the same entry only if they are equal.
func EntryOf(valueKey string) string {
	hash := sha256.Sum256([]byte(valueKey))
	return hex.EncodeToString(hash[:])
}
