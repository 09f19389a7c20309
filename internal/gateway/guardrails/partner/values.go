package partner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// values are what placeholders and rules read in one call. They belong to one goroutine.
type values struct {
	in     *check.Input
	params map[string]any // with defaults
	consts map[string]any
	hook   map[string]any // values that code computed; nil for none
	chunk  *chunk
	item   any // of $each; of the rule some
	index  int
	turns  *conversation // of the call; read at first use
}

// name is a compiled name of a value, with alternatives: the first that has a value counts.
type name [][]string

// roots are the first parts of names. Those with true have further parts: "param.recipe".
var roots = map[string]bool{
	"param": true, "credentials": true, "const": true, "metadata": true, "hook": true, "item": true,
	"text": false, "texts": false, "messages": false, "system": false, "prompt": false, "tools": false,
	"request": false, "response": false, "body": false, "phase": false, "model": false, "provider": false, "traceID": false,
	"index": false, "isOutput": false, "history": false, "toolDialogue": false,
}

// parseName compiles "param.user|metadata.user".
func parseName(s string) (name, error) {
	var n name
	for alternative := range strings.SplitSeq(s, "|") {
		parts := strings.Split(alternative, ".")
		nested, known := roots[parts[0]]
		if !known || !nested && len(parts) > 1 || nested && len(parts) == 1 && parts[0] != "item" {
			return nil, fmt.Errorf("unknown value %q", alternative)
		}
		n = append(n, parts)
	}
	return n, nil
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
	case "index":
		return float64(v.index)
	}
	return v.ofCall(parts[0])
}

// ofCall returns a value of the judged request or response.
func (v *values) ofCall(root string) any {
	switch root {
	case "text":
		return v.chunk.text()
	case "texts":
		return v.chunk.list()
	case "messages":
		return v.chunk.messages()
	case "request":
		return rawJSON(v.in.Request)
	case "body":
		return rawJSON(v.in.Body)
	case "response":
		if v.in.Phase == guardrail.Output {
			return rawJSON(v.in.Body)
		}
		return nil
	case "phase":
		return string(v.in.Phase)
	case "isOutput":
		return v.in.Phase == guardrail.Output
	case "model":
		return v.in.Model
	case "provider":
		return v.in.Provider
	case "traceID":
		return v.in.TraceID
	}
	return v.ofConversation(root)
}

// ofConversation returns a value of the messages of the request.
func (v *values) ofConversation(root string) any {
	if v.turns == nil {
		v.turns = readConversation(v.in)
	}
	switch root {
	case "system":
		return v.turns.system()
	case "prompt":
		return v.turns.prompt()
	case "history":
		return asList(v.turns.messages)
	case "toolDialogue":
		return toolDialogue(v.in, v.turns)
	case "tools":
		return v.turns.tools()
	}
	return nil
}

// rawJSON returns JSON for a body; nil for none.
func rawJSON(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return json.RawMessage(b)
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
