package check

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/domain/guardrail/param"
)

// Ways to compare values of metadata or claims.
const (
	matchExact       = "exact"       // each value equals an expected one
	matchContains    = "contains"    // an expected value is in the text, or an element of the list
	matchContainsAll = "containsAll" // each expected value is
	matchRegex       = "regex"       // a value matches an expected pattern
)

func matchTypeForm() param.Form {
	return param.OneOf(matchExact, matchContains, matchContainsAll, matchRegex)
}

// valueMatcher compares a value with the expected ones.
type valueMatcher struct {
	kind     string
	expected []string
	patterns []*regexp.Regexp
}

// newValueMatcher compiles expected values; path names their parameter in errors.
func newValueMatcher(kind string, expected []string, path string) (*valueMatcher, error) {
	m := &valueMatcher{kind: kind, expected: expected}
	if len(expected) == 0 {
		return nil, invalidParameter(path, "must have at least one value")
	}
	if kind != matchRegex {
		return m, nil
	}
	for _, rule := range expected {
		if problem := param.Pattern.Check(rule); problem != nil {
			return nil, invalidParameter(path, problem.Text)
		}
		re, err := regexp.Compile(rule)
		if err != nil {
			return nil, invalidParameter(path, "must be a regular expression in RE2 syntax")
		}
		m.patterns = append(m.patterns, re)
	}
	return m, nil
}

// text compares a text.
func (m *valueMatcher) text(actual string) bool {
	return m.matches([]string{actual}, func(expected string) bool { return strings.Contains(actual, expected) })
}

// list compares a list of texts; an empty list does not match.
func (m *valueMatcher) list(actual []string) bool {
	return m.matches(actual, func(expected string) bool { return slices.Contains(actual, expected) })
}

func (m *valueMatcher) matches(actual []string, contains func(expected string) bool) bool {
	switch m.kind {
	case matchContains:
		return slices.ContainsFunc(m.expected, contains)
	case matchContainsAll:
		return !slices.ContainsFunc(m.expected, func(expected string) bool { return !contains(expected) })
	case matchRegex:
		return slices.ContainsFunc(m.patterns, func(re *regexp.Regexp) bool { return slices.ContainsFunc(actual, re.MatchString) })
	}
	return len(actual) > 0 && !slices.ContainsFunc(actual, func(value string) bool { return !slices.Contains(m.expected, value) })
}

// plainTexts returns strings, numbers and booleans as texts: a single value or the elements of a list.
// It reports whether v is a list. Other values have no text.
func plainTexts(v any) (texts []string, isList bool) {
	if list, ok := v.([]any); ok {
		for _, item := range list {
			if s, ok := plainText(item); ok {
				texts = append(texts, s)
			}
		}
		return texts, true
	}
	if s, ok := plainText(v); ok {
		return []string{s}, false
	}
	return nil, false
}

// plainText returns a string, number or boolean as text.
func plainText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// plainForm accepts a string of at most 1024 bytes, a number or a boolean, or a list of them.
var plainForm = param.Custom(func(v any) *param.Problem {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	return param.List(param.Custom(func(v any) *param.Problem {
		if s, ok := plainText(v); !ok || len(s) > 1024 {
			return param.Wrong("must be a string of at most 1024 characters, a number or a boolean, or a list of them")
		}
		return nil
	})).Check(list)
})
