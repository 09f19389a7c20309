package claude

import (
	"strconv"

	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/llm"
)

// AllowsReasoning reports whether Claude accepts a reasoning budget with a call. An effort alone
// must not make Claude reject a call that it would otherwise accept. Claude thinks only at its own
// temperature and when no tool call is forced. Between tool calls it thinks only if it thought
// before them and the caller returns that reasoning.
// Source: contract/provider-transforms.md 2.1;
// https://platform.claude.com/docs/en/build-with-claude/thinking-tool-workflows, read 2026-11.
func AllowsReasoning(c *llm.Call, t *llm.FieldTracker) bool {
	if _, ok := t.Peek("top_k"); ok || c.Choice.Forces() {
		return false
	}
	return between(t, "temperature", 1, 1) && between(t, "top_p", 0.95, 1) && !isInsideToolCalls(c.Messages)
}

// between reports whether a parameter is absent or between two numbers.
func between(t *llm.FieldTracker, name string, minValue, maxValue float64) bool {
	raw, ok := t.Peek(name)
	if !ok {
		return true
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && n >= minValue && n <= maxValue
}

// isInsideToolCalls reports whether the conversation waits for a response to the results of tools
// that Claude called without reasoning before the calls.
func isInsideToolCalls(list []llm.Message) bool {
	called := false
	for i := len(list) - 1; i >= 0; i-- {
		switch m := &list[i]; m.Role {
		case llm.RoleAssistant:
			if len(m.Parts) == 0 {
				continue
			}
			if first := &m.Parts[0]; first.Kind == llm.SealedPart || first.Kind == llm.ReasoningPart && first.Signature != "" {
				return !signatures.Knows(signatures.ClaudeSigner, first)
			}
			for k := range m.Parts {
				called = called || m.Parts[k].Kind == llm.CallPart
			}
		case llm.RoleUser:
			if i == 0 || list[i-1].Role != llm.RoleTool { // otherwise it belongs to the turn of the results
				return called
			}
		case llm.RoleTool, llm.RoleSystem, llm.RoleDeveloper:
		}
	}
	return called
}
