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
func finishOf(word string) llm.Finish {
	if f, known := finishes[word]; known {
		return f
	}
	return llm.FinishStop
}

// stopReason is the word for why an answer ended: the provider's own where it speaks
// the shape.
// Source: contract/provider-transforms.md 9.3.
func stopReason(f llm.Finish, raw, stop string) string {
	if known, ok := finishes[raw]; ok && raw != "" && known == f {
		return raw
	}
	switch f {
	case llm.FinishLength:
		return "max_tokens"
	case llm.FinishToolCalls:
		return "tool_use"
	case llm.FinishFilter:
		return "refusal"
	case llm.FinishNone, llm.FinishStop:
	}
	if stop != "" {
		return "stop_sequence"
	}
	return "end_turn"
}
