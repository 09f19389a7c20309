package anthropic

import "sluice/internal/kernel/llm"

// finishes maps the provider's stop reasons to finish reasons.
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

// finishOf returns the finish reason. An unknown stop reason is a normal stop.
func finishOf(reason string) llm.Finish {
	if f, known := finishes[reason]; known {
		return f
	}
	return llm.FinishStop
}

// ended describes why a response ended.
type ended struct {
	finish  llm.Finish
	raw     string // the provider's stop reason
	stop    string // the stop sequence
	refused bool   // a part of the response is a refusal
}

// stopReason returns the stop reason of a message. It is the provider's own when the provider
// uses this format. OpenAI's refusals end like any other response ("stop", "completed"), and a
// refusal part marks them. Clients of messages expect the refusal in the stop reason.
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
