package partner

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// values are what placeholders and rules read in one call. They belong to one goroutine.
type values struct {
	in       *check.Input
	params   map[string]any // with defaults
	consts   map[string]any
	hook     map[string]any // values that code computed; nil for none
	chunk    *chunk
	item     any // of $each; of the rule some
	index    int
	messages *conversation // of the request; read at first use
}

// name is a compiled name of a value, with alternatives: the first that has a value counts.
type name [][]string

// nested are the first parts of names that have further parts: "param.recipe". "lists.categories.pii"
// is true if the parameter categories, a list, contains pii. All others are in callValues.
var nested = []string{"param", "lists", "credentials", "const", "metadata", "hook", "item"}

// parseName compiles "param.user|metadata.user".
func parseName(s string) (name, error) {
	var n name
	for alternative := range strings.SplitSeq(s, "|") {
		parts := strings.Split(alternative, ".")
		_, single := callValues[parts[0]]
		if single != (len(parts) == 1 && parts[0] != "item") || !single && !slices.Contains(nested, parts[0]) {
			return nil, fmt.Errorf("unknown value %q", alternative)
		}
		n = append(n, parts)
	}
	return n, nil
}

// parseOptionalName is parseName; an empty string is nil, the name without a value.
func parseOptionalName(s string) (name, error) {
	if s == "" {
		return nil, nil
	}
	return parseName(s)
}

// get returns the value of a name; nil for none. Empty strings count as none.
func (v *values) get(n name) any {
	for _, parts := range n {
		if got := v.one(parts); got != nil && got != "" {
			return got
		}
	}
	return nil
}

// isTrue reports whether one of the alternatives of a name has a true value.
func (v *values) isTrue(n name) bool {
	return slices.ContainsFunc(n, func(parts []string) bool { return truthy(v.one(parts)) })
}

func (v *values) one(parts []string) any {
	switch parts[0] {
	case "param":
		return member(v.params, parts[1:])
	case "lists":
		return len(parts) == 3 && slices.Contains(v.list(parts[1]), parts[2])
	case "credentials":
		return member(v.params["credentials"], parts[1:])
	case "const":
		return member(v.consts, parts[1:])
	case "hook":
		return member(v.hook, parts[1:])
	case "item":
		return member(v.item, parts[1:])
	case "metadata":
		return v.in.Metadata[strings.Join(parts[1:], ".")]
	}
	return callValues[parts[0]](v)
}

// callValues are the values of the judged request or response.
var callValues = map[string]func(v *values) any{
	"text":     func(v *values) any { return v.chunk.text() },
	"texts":    func(v *values) any { return v.chunk.list() },
	"messages": func(v *values) any { return v.chunk.messages() },
	"body":     func(v *values) any { return v.chunk.json() },
	"phase":    func(v *values) any { return string(v.in.Phase) },
	"isOutput": func(v *values) any { return v.in.Phase == guardrail.Output },
	"model":    func(v *values) any { return v.in.Model },
	"provider": func(v *values) any { return v.in.Provider },
	"traceID":  func(v *values) any { return v.in.TraceID },
	"index":    func(v *values) any { return float64(v.index) },
	"system":   func(v *values) any { return v.conversation().system() },
	"prompt":   func(v *values) any { return v.conversation().prompt() },
	"history":  func(v *values) any { return asList(v.conversation().messages) },
	"tools":    func(v *values) any { return v.conversation().tools() },
	// toolDialogue is the last message of the request, and the response with its tool calls.
	"toolDialogue": func(v *values) any { return toolDialogue(v.in, v.conversation()) },
}

// conversation returns the messages of the request.
func (v *values) conversation() *conversation {
	if v.messages == nil {
		v.messages = readConversation(v.in)
	}
	return v.messages
}

// member returns a member of nested objects.
func member(v any, parts []string) any {
	for _, part := range parts {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

// list returns the strings of a list in the parameters.
func (v *values) list(param string) (out []string) {
	return check.Params(v.params).List(param)
}

// truthy reports whether a value counts as set: not false, not empty, not zero.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}
