package routing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// query is the compiled form of a condition's query.
type query interface{ holds(Inputs) bool }

// all holds if every part does, some if at least one does.
type (
	all  []query
	some []query
)

func (qs all) holds(f Inputs) bool {
	for _, q := range qs {
		if !q.holds(f) {
			return false
		}
	}
	return true
}

func (qs some) holds(f Inputs) bool {
	return slices.ContainsFunc(qs, func(q query) bool { return q.holds(f) })
}

// test applies operators to one fact; all must hold.
type test struct {
	fact fact
	ops  []operator
}

// operator tests the value of a fact. found is false if the request does not have the fact; a
// missing value equals nothing.
type operator func(v any, found bool) bool

func (t *test) holds(f Inputs) bool {
	v, found := t.fact.resolve(f)
	for _, op := range t.ops {
		if !op(v, found) {
			return false
		}
	}
	return true
}

// fact names the value to test: {"metadata", "user_id"}, {"params", "model"} or {"url",
// "pathname"}.
type fact struct{ source, key string }

// parseFact reads the dotted form. Only two segments exist.
// Source: contract/dataplane.md 4.6.
func parseFact(s string) (f fact, ok bool) {
	source, key, _ := strings.Cut(s, ".")
	if key == "" || strings.Contains(key, ".") {
		return fact{}, false
	}
	switch source {
	case "metadata", "params":
		return fact{source, key}, true
	case "url":
		return fact{source, key}, key == "pathname"
	}
	return fact{}, false
}

func (f fact) resolve(facts Inputs) (v any, found bool) {
	switch f.source {
	case "metadata":
		return anyOf(facts.Metadata(f.key))
	case "params":
		return facts.Param(f.key)
	}
	return facts.Path(), true
}

func anyOf(s string, ok bool) (any, bool) { return s, ok }

// scalar is an operand of an equality: string, float64, bool or nil.
type scalar = any

// same is strict equality: the types must be equal too, and lists and objects equal nothing.
func same(v any, to scalar) bool {
	switch v := v.(type) {
	case string:
		s, ok := to.(string)
		return ok && s == v
	case float64:
		n, ok := to.(float64)
		return ok && n == v
	case bool:
		b, ok := to.(bool)
		return ok && b == v
	case nil:
		return to == nil
	}
	return false
}

func equal(to scalar) operator {
	return func(v any, found bool) bool { return found && same(v, to) }
}

func oneOf(list []scalar) operator {
	return func(v any, found bool) bool {
		return found && slices.ContainsFunc(list, func(to scalar) bool { return same(v, to) })
	}
}

func not(op operator) operator {
	return func(v any, found bool) bool { return !op(v, found) }
}

// ordered compares numbers. A value that is not a number compares false.
func ordered(limit float64, compare func(v, limit float64) bool) operator {
	return func(v any, found bool) bool {
		n, ok := number(v)
		return found && ok && compare(n, limit)
	}
}

// number reads a number or a numeric string.
func number(v any) (n float64, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		return decimal(v)
	}
	return 0, false
}

// decimal reads a decimal number with surrounding white space: "42", "-0.5", "1e3". It rejects
// other forms that strconv accepts, such as "infinity" and "0x1p4".
func decimal(text string) (n float64, ok bool) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// These limit the text that an expression is matched against: maxMatched bytes, or fewer if
// that times the instructions of all expressions of the config exceeds maxSteps. A step takes
// about 30 ns in bad cases, so the expressions of a config take at most an eighth of a second.
// Metadata, which has 128 characters, is always matched completely.
const (
	maxMatched = 16 << 10
	maxSteps   = 4 << 20
)

// matches gets a pointer to the instruction count, which is complete once the config is read.
func matches(pattern *regexp.Regexp, instructions *int) operator {
	return func(v any, found bool) bool {
		s, ok := v.(string)
		return found && ok && pattern.MatchString(s[:min(len(s), maxMatched, maxSteps/max(*instructions, 1))])
	}
}
