package anthropic

import "sluice/internal/llm"

// finishes are the provider's words for why an answer ended.
// Source: contract/provider-transforms.md 1.1.
var finishes = map[string]llm.Finish{
	"":                              llm.FinishNone,
	"end_turn":                      llm.FinishStop,
	"stop_sequence":                 llm.FinishStop,
	"pause_turn":                    llm.FinishStop,
	"tool_use":                      llm.FinishToolCalls,
	"max_tokens":                    llm.FinishLength,
	"model_context_window_exceeded": llm.FinishLength,
	"refusal":                       llm.FinishFilter,
}

// finishOf takes words that are not known for a mere end.
func finishOf(reason string) llm.Finish {
	if f, known := finishes[reason]; known {
		return f
	}
	return llm.FinishStop
}

// ended is why an answer ended.
type ended struct {
	finish  llm.Finish
	raw     string // the provider's word for it
	stop    string // the stop sequence
	refused bool   // a part of the answer is a refusal
}

// stopReason is the reason in the shape's words: the provider's own where it speaks the shape.
// OpenAI's answers that refuse end like any other ("stop", "completed") and tell the refusal by
// its place; clients of messages look for it here.
// Source: contract/provider-transforms.md 9.3;
// https://platform.openai.com/docs/guides/structured-outputs#refusals, read 2026-11.
func (e *ended) stopReason() string {
	if known, ok := finishes[e.raw]; ok && e.raw != "" && known == e.finish {
		return e.raw
	}
	switch e.finish {
	case llm.FinishLength:
		return "max_tokens"
	case llm.FinishToolCalls:
		return "tool_use"
	case llm.FinishFilter:
		return "refusal"
	case llm.FinishNone, llm.FinishStop:
	}
	switch {
	case e.refused:
		return "refusal"
	case e.stop != "":
		return "stop_sequence"
	}
	return "end_turn"
}
