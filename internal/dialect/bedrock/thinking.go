package bedrock

import (
	"encoding/json"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// minBudgetTokens is the smallest budget that Claude thinks with, in tokens.
const minBudgetTokens = 1024

// shares are how much of max_tokens each effort is, in percent; budgets is what it is
// where the caller set no limit.
// Source: contract/provider-transforms.md 1.6.
var (
	shares  = map[string]int64{"minimal": 10, "low": 20, "medium": 50, "high": 80, "xhigh": 80}
	budgets = map[string]int64{"minimal": 1024, "low": 1024, "medium": 8192, "high": 16384, "xhigh": 32768}
)

// efforts are the words that Converse itself has, for models that decide for themselves
// how long they think.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_OutputConfig.html, read 2026-11.
var efforts = map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}

// effortOf is the word that the model has for an effort, "" for none.
func effortOf(model dialect.ClaudeModel, effortName string) string {
	if !model.SupportsEffortLevel(effortName) {
		return ""
	}
	return efforts[effortName]
}

// think works out how much Claude shall think, before max_tokens is taken. What the
// caller says in Claude's own form wins.
func (w *callWriter) think() {
	if w.family != claude {
		return
	}
	model := w.model
	effort, requested := w.t.Peek(llm.ReasoningEffort)
	effortName := plain(effort)
	if raw, ok := w.t.Consume(llm.Thinking); ok {
		w.thinking = raw
		if level := effortOf(model, effortName); requested && model.SupportsEffort() && level != "" { // messages: output_config.effort beside thinking
			w.t.Consume(llm.ReasoningEffort)
			w.effort = level
		}
		return
	}
	switch {
	case !requested:
		if model.AsksForSummary(w.c, w.t) {
			w.thinking, w.added = model.VisibleThinking(), model.AddsDisplay()
		}
		return
	case !model.SupportsThinking():
		return
	case effortName == "none":
		still := model.DisabledThinkingType()
		if still == "" {
			return
		}
		w.thinking = []byte(`{"type":"` + still + `"}`)
	case model.SupportsAdaptiveThinking():
		if efforts[effortName] == "" {
			return
		}
		w.thinking = []byte(`{"type":"adaptive"}`)
		if w.c.Surface != llm.Messages {
			w.thinking, w.added = model.VisibleThinking(), model.AddsDisplay()
		}
		if w.effort = effortOf(model, effortName); w.effort == "" {
			return
		}
	default:
		if w.thinking = w.budget(effortName); w.thinking == nil {
			return
		}
	}
	w.t.Consume(llm.ReasoningEffort)
}

// budget is the thinking of models that want a number; nil when there is no room for it, or
// they would refuse the call.
func (w *callWriter) budget(effortName string) []byte {
	if !dialect.AllowsReasoning(w.c, w.t) {
		return nil
	}
	tokens := budgets[effortName]
	limit, limited := w.t.Peek(llm.MaxTokens)
	if !limited {
		limit, limited = w.t.Peek(llm.MaxCompletionTokens)
	}
	if limited {
		var maxTokens int64
		if json.Unmarshal(limit, &maxTokens) != nil || maxTokens <= minBudgetTokens {
			return nil
		}
		tokens = max(min(tokens, minBudgetTokens), maxTokens*shares[effortName]/100)
	}
	if tokens == 0 {
		return nil
	}
	return append(strconv.AppendInt([]byte(`{"type":"enabled","budget_tokens":`), tokens, 10), '}')
}
