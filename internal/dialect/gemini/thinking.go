package gemini

import (
	"encoding/json"
	"strconv"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// budgets maps the values of reasoning_effort to tokens, for models that take a budget.
// Source: contract/provider-transforms.md 1.6.
var budgets = map[string]int64{"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}

// thinking writes thinkingConfig from the caller's thinking, which wins, or from
// reasoning_effort. Both are used together when the caller lets the model decide whether
// to think: models with levels then get the effort. Settings that the model would refuse
// are omitted and reported as dropped.
// Source: https://ai.google.dev/gemini-api/docs/thinking, read 2026-11;
// contract/provider-transforms.md 1.6, 4.1.
func (w *configWriter) thinking() {
	if !w.m.supportsThinking() {
		return
	}
	minKey, value := w.m.minThinking()
	effort, _ := w.t.Peek(llm.ReasoningEffort)
	raw, hasThinking := w.t.Peek(llm.Thinking)
	level, _ := jsonedit.Unquote(effort)
	tokens, known := budgets[level]
	none := hasThinking && off(raw) || !hasThinking && level == "none"
	if !hasThinking && !known || none && minKey == "" {
		return
	}
	leveled := known && w.m.levels() && (!hasThinking || level != "none" && jsonedit.Text(raw, "type") == "adaptive")
	w.Key("thinkingConfig").Open('{')
	if hasThinking {
		w.Bool("includeThoughts", !none && jsonedit.Text(raw, "display") != "omitted")
	}
	switch {
	case none:
		w.Raw(minKey, []byte(value))
	case leveled:
		w.Raw("thinkingLevel", effort)
	case hasThinking:
		w.budget(raw)
	default:
		w.Int("thinkingBudget", tokens)
	}
	w.Close('}')
	w.t.Consume(llm.Thinking)
	if leveled || !hasThinking {
		w.t.Consume(llm.ReasoningEffort)
	}
}

// off reports whether the caller turned thinking off.
func off(thinking []byte) bool {
	tokens, _ := jsonedit.Find(thinking, "budget_tokens")
	switch jsonedit.Text(thinking, "type") {
	case "adaptive":
		return false
	case "enabled":
		return string(tokens) == "0"
	}
	return true
}

// dynamic is the budget that lets the model decide.
const dynamic = -1

// budget writes {"type":"enabled","budget_tokens":2048} or "adaptive".
func (w *configWriter) budget(raw json.RawMessage) {
	tokens, hasBudget := jsonedit.Find(raw, "budget_tokens")
	switch {
	case jsonedit.Text(raw, "type") == "enabled":
		if limit := w.m.maxThinking(); hasBudget && limit > 0 && above(tokens, limit) { // the caller may not know this model's maximum
			w.t.Drop("thinking.budget_tokens")
			w.Int("thinkingBudget", limit)
		} else if hasBudget {
			w.Raw("thinkingBudget", tokens)
		}
	case !w.m.levels():
		w.Int("thinkingBudget", dynamic)
	}
}

func above(tokens []byte, limit int64) bool {
	n, err := strconv.ParseInt(string(tokens), 10, 64)
	return err == nil && n > limit
}
