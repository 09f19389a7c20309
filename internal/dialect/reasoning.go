package dialect

import (
	"encoding/json"
	"strconv"
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// EffortOf is the word of OpenAI's shapes for a budget of thoughts in Anthropic's form,
// {"type":"enabled","budget_tokens":2048} is "medium"; "" for what is none.
// Source: contract/provider-transforms.md 9.1.
func EffortOf(thinking []byte) string {
	if splice.Text(thinking, "type") != "enabled" {
		return ""
	}
	raw, _ := splice.Find(thinking, "budget_tokens")
	var budget int64
	if json.Unmarshal(raw, &budget) != nil {
		return ""
	}
	switch {
	case budget <= 1024:
		return "low"
	case budget <= 8192:
		return "medium"
	}
	return "high"
}

// Reasons reports whether a model takes a word about thinking: the older ones of OpenAI refuse
// it, and of others nobody knows.
// Source: https://platform.openai.com/docs/guides/reasoning, read 2026-11.
func Reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	return !strings.HasPrefix(name, "gpt-3") && !strings.HasPrefix(name, "gpt-4") && !strings.HasPrefix(name, "chatgpt-4")
}

// AllowsReasoning reports whether Claude takes a budget of thoughts with a call. A mere word of
// effort is no reason to let it refuse a call that it would answer without: it thinks at no
// other temperature than its own, when no tool must be called, and amid calls of tools only
// when it thought before them and the caller gives that back.
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

// isInsideToolCalls reports whether the conversation waits for an answer to what tools came to that
// were called without a thought of Claude's before.
func isInsideToolCalls(list []llm.Message) bool {
	called := false
	for i := len(list) - 1; i >= 0; i-- {
		switch m := &list[i]; m.Role {
		case llm.RoleAssistant:
			if len(m.Parts) == 0 {
				continue
			}
			if first := &m.Parts[0]; first.Kind == llm.SealedPart || first.Kind == llm.ReasoningPart && first.Signature != "" {
				return !Knows(ClaudeSigner, first)
			}
			for k := range m.Parts {
				called = called || m.Parts[k].Kind == llm.CallPart
			}
		case llm.RoleUser:
			if i == 0 || list[i-1].Role != llm.RoleTool { // else it is of the turn of the results
				return called
			}
		case llm.RoleTool, llm.RoleSystem, llm.RoleDeveloper:
		}
	}
	return called
}
