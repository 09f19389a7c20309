package resource

import (
	"encoding/json"
	"fmt"

	"sluice/internal/fault"
)

// Overlay returns base with fields laid over its JSON form: a value replaces the
// field as a whole, null clears it, what is not among them stays. The result shares
// nothing with base.
// Source: contract/identity-and-governance.yaml, legend.triple_state_put.
func Overlay[T any](base T, fields Sent) (out T, err error) {
	raw, err := json.Marshal(base)
	if err != nil {
		return out, fmt.Errorf("encode %T: %w", base, err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return out, fmt.Errorf("encode %T: %w", base, err)
	}
	if all == nil { // base was null: a map that nobody has made
		all = make(map[string]json.RawMessage, len(fields))
	}
	for name := range fields {
		if fields.Has(name) {
			all[name] = fields[name]
		} else {
			delete(all, name)
		}
	}
	if raw, err = json.Marshal(all); err != nil {
		return out, fmt.Errorf("encode %T: %w", base, err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fault.New(fault.InvalidRequest, "invalid body: a field has the wrong type").WithCause(err)
	}
	return out, nil
}
