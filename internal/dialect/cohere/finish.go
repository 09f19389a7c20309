package cohere

import "sluice/internal/llm"

// finishes are Cohere's reasons; every other one is a stop.
// Source: contract/provider-transforms.md 1.1.
var finishes = map[string]llm.Finish{
	"":           llm.FinishNone,
	"MAX_TOKENS": llm.FinishLength,
	"TOOL_CALL":  llm.FinishToolCalls,
}

func finishOf(word string) llm.Finish {
	if f, ok := finishes[word]; ok {
		return f
	}
	return llm.FinishStop
}
