package gemini

import "sluice/internal/llm"

// finishes are Gemini's reasons to end. What is not here counts as the usual end.
// Source: https://ai.google.dev/api/generate-content#FinishReason, read 2026-11;
// contract/provider-transforms.md 1.1.
var finishes = map[string]llm.Finish{
	"MAX_TOKENS": llm.FinishLength, "CONTINUATION": llm.FinishLength, // a limit of one request
	"SAFETY": llm.FinishFilter, "PROHIBITED_CONTENT": llm.FinishFilter, "BLOCKLIST": llm.FinishFilter, "SPII": llm.FinishFilter,
	"LANGUAGE": llm.FinishFilter, "IMAGE_SAFETY": llm.FinishFilter, "IMAGE_PROHIBITED_CONTENT": llm.FinishFilter,
	"IMAGE_RECITATION": llm.FinishFilter, "NO_IMAGE": llm.FinishFilter,
}

// finishOf is why an answer ended. Gemini has no word of its own for calls.
func finishOf(word string, called bool) llm.Finish {
	if word == "" {
		return llm.FinishNone
	}
	f, known := finishes[word]
	switch {
	case known:
		return f
	case called:
		return llm.FinishToolCalls
	}
	return llm.FinishStop
}
