package partner

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// rule is a condition on a response. Exactly one of its operators is set. An operator with a path
// holds if it holds for one of the values at the path, so an absent value never satisfies it.
type rule struct {
	If     string `json:"if"`     // a name; without a true value the rule does not hold
	Unless string `json:"unless"` // a name; with a true value the rule does not hold

	Path    string          `json:"path"`
	Is      json.RawMessage `json:"is"`       // equal to this constant
	In      json.RawMessage `json:"in"`       // a template: equal to an item of this list, whatever the case
	Above   json.RawMessage `json:"above"`    // a template: a larger number
	AtLeast json.RawMessage `json:"at_least"` // a template: a number at least as large
	Starts  string          `json:"starts"`   // a string with this prefix
	Found   bool            `json:"found"`    // not null and not false
	Filled  bool            `json:"filled"`   // not null, false, zero or empty

	Any  []*rule `json:"any"`
	All  []*rule `json:"all"`
	Not  *rule   `json:"not"`
	Some *some   `json:"some"`

	condition name
	exception name
	path      path
	test      func(found any, v *values) bool // of the operator with a path
}

// some holds if one value at the path satisfies a rule, whose paths begin at that value.
type some struct {
	Path  string `json:"path"`
	Where *rule  `json:"where"`
	path  path
}

// compile compiles a rule and those in it.
func (r *rule) compile() (err error) {
	if r.condition, err = parseOptionalName(r.If); err != nil {
		return err
	}
	if r.exception, err = parseOptionalName(r.Unless); err != nil {
		return err
	}
	if n := r.operators(); n != 1 {
		return fmt.Errorf("a rule must have one operator, this has %d", n)
	}
	for _, inner := range slices.Concat(r.Any, r.All) {
		if err := inner.compile(); err != nil {
			return err
		}
	}
	switch {
	case r.Not != nil:
		return r.Not.compile()
	case r.Some != nil:
		return r.Some.compile()
	}
	if r.path, err = parsePath(r.Path); err != nil {
		return err
	}
	r.test, err = r.operator()
	return err
}

func (s *some) compile() (err error) {
	if s.Where == nil {
		return errors.New("some: where is required")
	}
	if s.path, err = parsePath(s.Path); err != nil {
		return err
	}
	return s.Where.compile()
}

// operators returns the number of operators that are set.
func (r *rule) operators() (n int) {
	set := []bool{r.Is != nil, r.In != nil, r.Above != nil, r.AtLeast != nil, r.Starts != "", r.Found, r.Filled,
		r.Any != nil, r.All != nil, r.Not != nil, r.Some != nil}
	for _, is := range set {
		if is {
			n++
		}
	}
	return n
}

// operator returns the test of the operator with a path; nil for the others.
func (r *rule) operator() (func(any, *values) bool, error) {
	switch {
	case r.Is != nil:
		return equals(r.Is)
	case r.In != nil:
		return listed(r.In)
	case r.Above != nil:
		return compares(r.Above, func(found, limit float64) bool { return found > limit })
	case r.AtLeast != nil:
		return compares(r.AtLeast, func(found, limit float64) bool { return found >= limit })
	case r.Starts != "":
		return func(found any, _ *values) bool {
			s, ok := found.(string)
			return ok && strings.HasPrefix(s, r.Starts)
		}, nil
	case r.Found:
		return func(found any, _ *values) bool { return found != nil && found != false }, nil
	case r.Filled:
		return func(found any, _ *values) bool { return truthy(found) }, nil
	}
	return nil, nil
}

func equals(raw []byte) (func(any, *values) bool, error) {
	var constant any
	if err := json.Unmarshal(raw, &constant); err != nil {
		return nil, err
	}
	switch constant.(type) {
	case map[string]any, []any:
		return nil, errors.New("is must be a string, a number, true or false")
	}
	return func(found any, _ *values) bool {
		switch found.(type) {
		case map[string]any, []any:
			return false
		}
		return found == constant
	}, nil
}

func listed(raw []byte) (func(any, *values) bool, error) {
	t, err := parseTemplate(raw)
	if err != nil {
		return nil, err
	}
	return func(found any, v *values) bool {
		s, ok := found.(string)
		value, err := t.build(v)
		items, isList := value.([]any)
		return ok && err == nil && isList && slices.ContainsFunc(items, func(item any) bool {
			text, isText := item.(string)
			return isText && strings.EqualFold(text, s)
		})
	}, nil
}

func compares(raw []byte, holds func(found, limit float64) bool) (func(any, *values) bool, error) {
	t, err := parseTemplate(raw)
	if err != nil {
		return nil, err
	}
	return func(found any, v *values) bool {
		n, ok := found.(float64)
		value, err := t.build(v)
		limit, isNumber := value.(float64)
		return ok && err == nil && isNumber && holds(n, limit)
	}, nil
}

// holds reports whether the rule holds for a response.
func (r *rule) holds(root any, v *values) bool {
	if r.condition != nil && !v.isTrue(r.condition) || v.isTrue(r.exception) {
		return false
	}
	inner := func(r *rule) bool { return r.holds(root, v) }
	switch {
	case r.Any != nil:
		return slices.ContainsFunc(r.Any, inner)
	case r.All != nil:
		return !slices.ContainsFunc(r.All, func(r *rule) bool { return !r.holds(root, v) })
	case r.Not != nil:
		return !r.Not.holds(root, v)
	case r.Some != nil:
		return slices.ContainsFunc(r.Some.path.find(root, v), func(found any) bool { return r.Some.Where.holds(found, v) })
	}
	return slices.ContainsFunc(r.path.find(root, v), func(found any) bool { return r.test(found, v) })
}

// expectation is a member that each response has.
type expectation struct {
	Path string `json:"path"`
	Type string `json:"type"` // "string", "number", "boolean", "list", "object" or "any"
	path path
}

// jsonTypes are the types of values in a response.
var jsonTypes = map[string]func(any) bool{
	"string":  func(v any) bool { _, ok := v.(string); return ok },
	"number":  func(v any) bool { _, ok := v.(float64); return ok },
	"boolean": func(v any) bool { _, ok := v.(bool); return ok },
	"list":    func(v any) bool { _, ok := v.([]any); return ok },
	"any":     func(any) bool { return true },
	"object":  func(v any) bool { _, ok := v.(map[string]any); return ok },
}

func (e *expectation) compile() (err error) {
	if jsonTypes[e.Type] == nil {
		return fmt.Errorf("unknown type %q", e.Type)
	}
	e.path, err = parsePath(e.Path)
	return err
}

// met reports whether a response has the member.
func (e *expectation) met(root any, v *values) bool {
	found := e.path.find(root, v)
	return len(found) > 0 && !slices.ContainsFunc(found, func(v any) bool { return !jsonTypes[e.Type](v) })
}
