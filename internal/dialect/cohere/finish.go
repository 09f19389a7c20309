package cohere

import "sluice/internal/kernel/llm"

// finishes maps Cohere's finish reasons; every other reason is a stop.
// Source: contract/provider-transforms.md 1.1.
var finishes = map[string]llm.Finish{
	"":           llm.FinishNone,
	"MAX_TOKENS": llm.FinishLength,
	"TOOL_CALL":  llm.FinishToolCalls,
}

// failures maps finish reasons to the error for a turn without useful content.
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
