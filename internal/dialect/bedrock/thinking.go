package bedrock

import (
	"encoding/json"
	"strconv"

	"sluice/internal/dialect/claude"
	"sluice/internal/kernel/llm"
)

// minBudgetTokens is the smallest thinking budget that Claude accepts, in tokens.
const minBudgetTokens = 1024

// shares maps each effort to a percentage of max_tokens. budgets maps it to tokens, for callers who
// set no limit.
// Source: contract/provider-transforms.md 1.6.
var (
	shares  = map[string]int64{"minimal": 10, "low": 20, "medium": 50, "high": 80, "xhigh": 80}
	budgets = map[string]int64{"minimal": 1024, "low": 1024, "medium": 8192, "high": 16384, "xhigh": 32768}
)

// efforts maps effort names to those of Converse, for models that choose for themselves how long
// they think.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_OutputConfig.html, read 2026-11.
var efforts = map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}

// effortOf returns the model's name for an effort, "" when it does not support it.
func effortOf(model claude.Model, effortName string) string {
	if !model.SupportsEffortLevel(effortName) {
		return ""
	}
	return efforts[effortName]
}

// think sets the thinking configuration of Claude. It must run before max_tokens is consumed. A
// configuration in Claude's own format wins.
func (w *parameterWriter) think() {
	if w.family != anthropic {
		return
	}
	model := w.model
	effort, requested := w.t.Peek(llm.ReasoningEffort)
	effortName := plain(effort)
	if raw, ok := w.t.Consume(llm.Thinking); ok {
		w.thinking = raw
		if level := effortOf(model, effortName); requested && model.SupportsEffort() && level != "" { // messages: output_config.effort next to thinking
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

// budget returns the thinking configuration for models that require a number of tokens. It returns
// nil when the effort is unknown, when the limit is too low, or when the model would reject the call.
func (w *parameterWriter) budget(effortName string) []byte {
	if !claude.AllowsReasoning(w.c, w.t) {
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
