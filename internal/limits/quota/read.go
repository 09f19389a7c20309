package quota

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// budgetFields and rateFields are all fields that a limit may have in a request.
var (
	budgetFields = strings.Fields("type credit_limit alert_threshold mode periodic_reset periodic_reset_days next_usage_reset_at")
	rateFields   = strings.Fields("type unit value")
)

// ReadBudgets reads budgets from a request: one object or a list, null for none. It is strict:
// it returns fault.InvalidParameter for an unknown or invalid field, and for two budgets with
// the same measure and period.
func ReadBudgets(raw []byte, r Rules) ([]Budget, error) {
	maxItems := r.MaxItems
	if maxItems == 0 {
		maxItems = 1
	}
	var list []Budget
	err := each(raw, r.Field, min(maxItems, maxBudgets), budgetFields, func(path string, one json.RawMessage) error {
		var b Budget
		if err := json.Unmarshal(one, &b); err != nil {
			return unreadable(path, one, budgetFields, new(Budget), err)
		}
		b.ID = ""
		if err := b.validate(path, r); err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(e Budget) bool { return e.Measure == b.Measure && e.Same(b.Period) }) {
			return fault.Newf(fault.InvalidParameter, "another %s limit has the same reset; remove one", b.Measure).WithParam(strings.TrimSuffix(path, "."))
		}
		list = append(list, b)
		return nil
	})
	return list, err
}

// ReadRates is ReadBudgets for rates. Two rates must not have the same type and unit.
func ReadRates(raw []byte, field string, maxItems int) ([]Rate, error) {
	var list []Rate
	err := each(raw, field, maxItems, rateFields, func(path string, one json.RawMessage) error {
		r := Rate{Value: -1} // absent is not 0
		if err := json.Unmarshal(one, &r); err != nil {
			return unreadable(path, one, rateFields, new(Rate), err)
		}
		if err := r.validate(path); err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(e Rate) bool { return e.Type == r.Type && e.Unit == r.Unit }) {
			return fault.Newf(fault.InvalidParameter, "another limit of %s per %s exists; remove one", r.Type, r.Unit).WithParam(strings.TrimSuffix(path, "."))
		}
		list = append(list, r)
		return nil
	})
	return list, err
}

// each calls f for an object, or for each object of a list, and rejects unknown fields. It
// compares names exactly, which package json does not.
func each(raw []byte, field string, maxItems int, known []string, f func(path string, one json.RawMessage) error) error {
	raw = bytes.TrimSpace(raw)
	list, single := []json.RawMessage{raw}, true
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '[':
		single = false
		list = nil // else the decoder would write into raw
		if err := json.Unmarshal(raw, &list); err != nil {
			return fault.New(fault.InvalidParameter, "must be a list of limits").WithParam(field).WithCause(err)
		}
	}
	if len(list) > maxItems {
		return fault.Newf(fault.InvalidParameter, "must not have more than %d items", maxItems).WithParam(field)
	}
	for i, one := range list {
		where := field
		if !single {
			where = path(field, i)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(one, &fields); err != nil || fields == nil {
			return fault.New(fault.InvalidParameter, "must be an object").WithParam(where).WithCause(err)
		}
		for name := range fields {
			if !slices.Contains(known, name) {
				return fault.Newf(fault.InvalidParameter, "unknown field; must be one of %s", strings.Join(known, ", ")).WithParam(where + "." + name)
			}
		}
		if err := f(where+".", one); err != nil {
			return err
		}
	}
	return nil
}

// unreadable returns an error for the field that the decoder rejected.
func unreadable(path string, one json.RawMessage, known []string, into any, err error) error {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(one, &fields) // decoded without error before
	for _, name := range known {
		alone, _ := json.Marshal(map[string]json.RawMessage{name: fields[name]})
		if fields[name] != nil && json.Unmarshal(alone, into) != nil {
			return fault.New(fault.InvalidParameter, "invalid value").WithParam(path + name).WithCause(err)
		}
	}
	return fault.New(fault.InvalidParameter, "invalid limit").WithParam(strings.TrimSuffix(path, ".")).WithCause(err)
}

// Limits are the limits of a stored record.
type Limits struct {
	Budgets Budgets `json:"usage_limits,omitempty"`
	Rates   []Rate  `json:"rate_limits,omitempty"`
}

// Budgets is a list of budgets. A JSON object is a list of one.
type Budgets []Budget

// UnmarshalJSON reads an object, a list or null.
func (b *Budgets) UnmarshalJSON(raw []byte) error {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		*b = make(Budgets, 1)
		return json.Unmarshal(raw, &(*b)[0])
	}
	return json.Unmarshal(raw, (*[]Budget)(b))
}

// StoredLimits reads the fields of a record that contain limits, in any of their forms. An
// empty field means no limits.
func StoredLimits(budgets, rates json.RawMessage) (l Limits, err error) {
	if len(budgets) > 0 {
		err = json.Unmarshal(budgets, &l.Budgets)
	}
	if len(rates) > 0 && err == nil {
		err = json.Unmarshal(rates, &l.Rates)
	}
	return l, err
}
