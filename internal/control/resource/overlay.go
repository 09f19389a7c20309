package resource

import (
	"encoding/json"
	"fmt"

	"sluice/internal/kernel/fault"
)

// Overlay returns base with fields merged into its JSON form: a value replaces the complete
// field, null clears it, and other fields do not change. The result does not share memory with
// base.
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
	if all == nil { // base was null: a nil map
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

// MergeFields merges fields into a part of a record. null resets a value.
func MergeFields[T any](fields Sent, to *T) error {
	if len(fields) == 0 {
		return nil
	}
	next, err := Overlay(*to, fields)
	if err == nil {
		*to = next
	}
	return err
}
