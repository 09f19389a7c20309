package gemini

import (
	"encoding/json"
	"strconv"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// budgets are the tokens that stand for the words of reasoning_effort on models that
// are told a budget. Source: contract/provider-transforms.md 1.6.
var budgets = map[string]int64{"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}

// thinking writes thinkingConfig: of the caller's thinking, which wins, or of
// reasoning_effort. Both are one wish where the caller leaves to the model whether it thinks,
// and models of levels are told how much. What the model would refuse is left out, and named
// as lost.
// Source: https://ai.google.dev/gemini-api/docs/thinking, read 2026-11;
// contract/provider-transforms.md 1.6, 4.1.
func (w *writer) thinking() {
	if !w.m.thinks() {
		return
	}
	least, value := w.m.minThinking()
	effort, _ := w.t.Peek(llm.ReasoningEffort)
	raw, own := w.t.Peek(llm.Thinking)
	word, _ := splice.Unquote(effort)
	tokens, known := budgets[word]
	none := own && off(raw) || !own && word == "none"
	if !own && !known || none && least == "" {
		return
	}
	leveled := known && w.m.levels() && (!own || word != "none" && splice.Text(raw, "type") == "adaptive")
	w.Key("thinkingConfig").Open('{')
	if own {
		w.Bool("includeThoughts", !none && splice.Text(raw, "display") != "omitted")
	}
	switch {
	case none:
		w.Raw(least, []byte(value))
	case leveled:
		w.Raw("thinkingLevel", effort)
	case own:
		w.budget(raw)
	default:
		w.Int("thinkingBudget", tokens)
	}
	w.Close('}')
	w.t.Consume(llm.Thinking)
	if leveled || !own {
		w.t.Consume(llm.ReasoningEffort)
	}
}

// off reports whether the caller wants no thoughts.
func off(thinking []byte) bool {
	tokens, _ := splice.Find(thinking, "budget_tokens")
	switch splice.Text(thinking, "type") {
	case "adaptive":
		return false
	case "enabled":
		return string(tokens) == "0"
	}
	return true
}

// dynamic is the budget of a model that decides for itself.
const dynamic = -1

// budget writes {"type":"enabled","budget_tokens":2048} or "adaptive".
func (w *writer) budget(raw json.RawMessage) {
	tokens, said := splice.Find(raw, "budget_tokens")
	switch {
	case splice.Text(raw, "type") == "enabled":
		if most := w.m.maxThinking(); said && most > 0 && above(tokens, most) { // a caller who does not know this model's
			w.t.Drop("thinking.budget_tokens")
			w.Int("thinkingBudget", most)
		} else if said {
			w.Raw("thinkingBudget", tokens)
		}
	case !w.m.levels():
		w.Int("thinkingBudget", dynamic)
	}
}

func above(tokens []byte, most int64) bool {
	n, err := strconv.ParseInt(string(tokens), 10, 64)
	return err == nil && n > most
}
