package gemini

import (
	"encoding/json"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// budgets are the tokens that stand for the words of reasoning_effort on models that
// are told a budget. Source: contract/provider-transforms.md 1.6.
var budgets = map[string]int64{"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}

// thinking writes thinkingConfig: of the caller's thinking, which wins, or of
// reasoning_effort.
// Source: https://ai.google.dev/gemini-api/docs/thinking, read 2026-11;
// contract/provider-transforms.md 1.6, 4.1.
func (w *writer) thinking() {
	effort, words := w.t.Peek(llm.ReasoningEffort)
	if raw, ok := w.t.Take(llm.Thinking); ok {
		if words {
			w.t.Take(llm.ReasoningEffort)
		}
		w.Key("thinkingConfig").Open('{')
		w.budget(raw)
		w.Close('}')
		return
	}
	if !words {
		return
	}
	word, _ := splice.Unquote(effort)
	tokens, known := budgets[word]
	if !known && !w.m.levels() {
		return // and is named as lost
	}
	w.t.Take(llm.ReasoningEffort)
	w.Key("thinkingConfig").Open('{')
	if w.m.levels() && word != "none" {
		w.Raw("thinkingLevel", effort)
	} else {
		w.Int("thinkingBudget", tokens)
	}
	w.Close('}')
}

// dynamic is the budget of a model that decides for itself.
const dynamic = -1

// budget writes {"type":"enabled","budget_tokens":2048}, "adaptive" or "disabled".
func (w *writer) budget(raw json.RawMessage) {
	typ, _ := splice.Find(raw, "type")
	display, _ := splice.Find(raw, "display")
	shown := string(display) != `"omitted"`
	tokens, said := splice.Find(raw, "budget_tokens")
	switch string(typ) {
	case `"enabled"`:
		w.Bool("includeThoughts", shown && string(tokens) != "0")
		if said {
			w.Raw("thinkingBudget", tokens)
		}
	case `"adaptive"`:
		w.Bool("includeThoughts", shown)
		if !w.m.levels() {
			w.Int("thinkingBudget", dynamic)
		}
	default:
		w.Bool("includeThoughts", false)
		w.Int("thinkingBudget", 0)
	}
}
