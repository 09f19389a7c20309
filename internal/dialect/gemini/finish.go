package gemini

import (
	"strings"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// finishes are Gemini's reasons to end. What is not here counts as the usual end.
// Source: https://ai.google.dev/api/generate-content#FinishReason, read 2026-11;
// contract/provider-transforms.md 1.1.
var finishes = map[string]llm.Finish{
	"MAX_TOKENS": llm.FinishLength, "CONTINUATION": llm.FinishLength, // a limit of one request
	"SAFETY": llm.FinishFilter, "PROHIBITED_CONTENT": llm.FinishFilter, "BLOCKLIST": llm.FinishFilter, "SPII": llm.FinishFilter,
	"LANGUAGE": llm.FinishFilter, "IMAGE_SAFETY": llm.FinishFilter, "IMAGE_PROHIBITED_CONTENT": llm.FinishFilter,
	"IMAGE_RECITATION": llm.FinishFilter, "NO_IMAGE": llm.FinishFilter,
}

// failures are reasons to end that leave nothing to use: an empty turn of success would end a
// conversation, where an error is tried again. The calls were no JSON or of tools that nobody
// offered, or the request lacks the signature of a thought, which is the caller's fault.
// Source: https://ai.google.dev/api/generate-content#FinishReason, read 2026-11.
var failures = map[string]struct {
	status int
	text   string
}{
	"MALFORMED_FUNCTION_CALL":   {502, "the model made an invalid tool call"},
	"UNEXPECTED_TOOL_CALL":      {502, "the model called a tool, but tool calls are disabled"},
	"TOO_MANY_TOOL_CALLS":       {502, "the model made too many consecutive tool calls"},
	"MALFORMED_RESPONSE":        {502, "the model returned an invalid response"},
	"MISSING_THOUGHT_SIGNATURE": {400, "the request lacks a thought signature; return the thought_signature of each tool call unchanged"},
}

// finishMessage is the name under which lenient callers get what Gemini says of a reason, and
// maxFinishMessageBytes how much of it an error says, in bytes.
const (
	finishMessage         = "finish_message"
	maxFinishMessageBytes = 500
)

// failsAtOnce reports whether a fragment says of every candidate in it that it failed, and has
// nothing else of them: the answer has not begun, so that another target may be tried.
func failsAtOnce(fragment []byte) (fails bool) {
	candidates, _ := splice.Find(fragment, "candidates")
	for c := range splice.Elements(candidates) {
		parts, _ := splice.Find(c, "content", "parts")
		if _, fails = failures[splice.Text(c, "finishReason")]; !fails || len(parts) > len("[]") {
			return false
		}
	}
	return fails
}

// failureOf is the error that ends a candidate, whose reason, and what the provider says of it,
// are its text: "the model made an invalid tool call: MALFORMED_FUNCTION_CALL: …".
func failureOf(reason, message string) (text string, status int, failed bool) {
	f, failed := failures[reason]
	if !failed {
		return "", 0, false
	}
	text = f.text + ": " + reason
	if message != "" {
		text += ": " + strings.ToValidUTF8(message[:min(len(message), maxFinishMessageBytes)], "")
	}
	return text, f.status, true
}

// asFault is that error as the outcome of a call.
func asFault(reason, text string, status int) *fault.Error {
	f := fault.New(fault.UpstreamFailed, text)
	if status == 400 {
		f = fault.New(fault.InvalidParameter, text)
	}
	f.Wire = reason
	return f
}

// finishOf is why an answer ended. Gemini has no word of its own for calls.
func finishOf(reason string, called bool) llm.Finish {
	if reason == "" {
		return llm.FinishNone
	}
	f, known := finishes[reason]
	switch {
	case known:
		return f
	case called:
		return llm.FinishToolCalls
	}
	return llm.FinishStop
}
