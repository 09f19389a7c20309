package gemini

import (
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// finishes maps Gemini's finish reasons. Every other reason is a normal end.
// Source: https://ai.google.dev/api/generate-content#FinishReason, read 2026-11;
// contract/provider-transforms.md 1.1.
var finishes = map[string]llm.Finish{
	"MAX_TOKENS": llm.FinishLength, "CONTINUATION": llm.FinishLength, // a limit of one request
	"SAFETY": llm.FinishFilter, "PROHIBITED_CONTENT": llm.FinishFilter, "BLOCKLIST": llm.FinishFilter, "SPII": llm.FinishFilter,
	"LANGUAGE": llm.FinishFilter, "IMAGE_SAFETY": llm.FinishFilter, "IMAGE_PROHIBITED_CONTENT": llm.FinishFilter,
	"IMAGE_RECITATION": llm.FinishFilter, "NO_IMAGE": llm.FinishFilter,
}

// failures maps finish reasons to the error for a response without usable content. An empty successful
// turn would end a conversation, but an error is retried. The calls were not JSON, or were for tools
// that were not offered. Or the request lacks a thought signature, which is the caller's error.
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

// finishMessage is the member that contains Gemini's message about a finish reason, for lenient
// callers. maxFinishMessageBytes is the maximum length of that message in an error, in bytes.
const (
	finishMessage         = "finish_message"
	maxFinishMessageBytes = 500
)

// failsAtOnce reports whether every candidate in a fragment failed without content. The response has
// not begun then, so another target can be tried.
func failsAtOnce(fragment []byte) (fails bool) {
	candidates, _ := jsonedit.Find(fragment, "candidates")
	for c := range jsonedit.Elements(candidates) {
		parts, _ := jsonedit.Find(c, "content", "parts")
		if _, fails = failures[jsonedit.Text(c, "finishReason")]; !fails || len(parts) > len("[]") {
			return false
		}
	}
	return fails
}

// failureOf returns the error that ends a candidate. Its text contains the reason and the provider's
// message: "the model made an invalid tool call: MALFORMED_FUNCTION_CALL: …".
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

// asFault returns the error of failureOf as the outcome of a call.
func asFault(reason, text string, status int) *fault.Error {
	f := fault.New(fault.UpstreamFailed, text)
	if status == 400 {
		f = fault.New(fault.InvalidParameter, text)
	}
	f.Wire = reason
	return f
}

// finishOf returns the finish reason. Gemini does not have a finish reason for calls.
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
