package cohere

import "sluice/internal/llm"

// finishes are Cohere's reasons; every other one is a stop.
// Source: contract/provider-transforms.md 1.1.
var finishes = map[string]llm.Finish{
	"":           llm.FinishNone,
	"MAX_TOKENS": llm.FinishLength,
	"TOOL_CALL":  llm.FinishToolCalls,
}

// failures are reasons why a turn without content failed.
// Source: https://docs.cohere.com/reference/chat, read 2026-11.
var failures = map[string]string{
	"ERROR":   "the model failed",
	"TIMEOUT": "the model took too long",
}

func finishOf(reason string) llm.Finish {
	if f, ok := finishes[reason]; ok {
		return f
	}
	return llm.FinishStop
}
