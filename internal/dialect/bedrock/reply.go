package bedrock

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// shapeName is the name of this package's format in llm.Part.Shape.
const shapeName = "bedrock"

// decodeConverse reads the response of Converse.
// Source: contract/provider-transforms.md 3.4.
func decodeConverse(incoming *dialect.Incoming) (*llm.Response, error) {
	response := &llm.Response{Choices: make([]llm.Choice, 1)}
	c := &response.Choices[0]
	var tier []byte
	hasMessage := false
	r := jsonedit.NewReader(incoming.Body)
	for name := range r.Members() {
		switch string(name) {
		case "output":
			hasMessage = readOutput(c, &r)
		case "stopReason":
			c.Raw = plain(r.Raw())
			c.Finish = finishOf(c.Raw)
		case "usage":
			response.Usage = readUsage(r.Raw())
		case "additionalModelResponseFields":
			raw := r.Raw()
			c.StopText = jsonedit.Text(raw, "stop_sequence")
			response.Extra = append(response.Extra, llm.Param{Name: "additionalModelResponseFields", Raw: raw})
		case "serviceTier":
			if tier, _ = jsonedit.Find(r.Raw(), "type"); tier != nil {
				response.Extra = append(response.Extra, llm.Param{Name: "service_tier", Raw: tier})
			}
		}
	}
	response.Usage.Tier = usage.Tier(tier)
	if !hasMessage || !r.IsComplete() {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no message")
	}
	if text, failed := failures[c.Raw]; failed && !conversation.Useful(c.Parts) {
		return nil, conversation.EmptyTurn(c.Raw, text)
	}
	return response, nil
}

// failures maps stop reasons to the error for a turn without useful content.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, read 2026-11.
var failures = map[string]string{
	"malformed_model_output": "the model gave an answer that cannot be read",
	"malformed_tool_use":     "the model made a tool call that cannot be read",
}

// readOutput reads {"message":{"role":"assistant","content":[…]}} and reports whether it contains
// a content list.
func readOutput(c *llm.Choice, r *jsonedit.Reader) (hasMessage bool) {
	for name := range r.Members() {
		if string(name) != "message" {
			continue
		}
		for name := range r.Members() {
			if string(name) != "content" {
				continue
			}
			hasMessage = r.Kind() == '['
			for range r.Elements() {
				c.Parts = append(c.Parts, readBlock(r.Raw()))
			}
		}
	}
	return hasMessage
}

// finishes maps stop reasons to finish reasons.
// Source: contract/provider-transforms.md 1.1.
var finishes = map[string]llm.Finish{
	"end_turn": llm.FinishStop, "stop_sequence": llm.FinishStop, "malformed_model_output": llm.FinishStop, "malformed_tool_use": llm.FinishStop,
	"max_tokens": llm.FinishLength, "model_context_window_exceeded": llm.FinishLength,
	"tool_use":             llm.FinishToolCalls,
	"guardrail_intervened": llm.FinishFilter, "content_filtered": llm.FinishFilter,
}

// finishOf returns the finish reason. An unknown stop reason is a normal stop.
func finishOf(reason string) llm.Finish {
	f := finishes[reason]
	if f == llm.FinishNone && reason != "" {
		return llm.FinishStop
	}
	return f
}

// readUsage reads the usage of a call. Amazon's input tokens exclude those read from the cache and
// written to it. Its total includes them.
// Source: contract/provider-transforms.md 1.3.
func readUsage(raw []byte) llm.Usage {
	var u llm.Usage
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"inputTokens"`:
			count(val, &u.InputTokens)
		case `"outputTokens"`:
			count(val, &u.OutputTokens)
		case `"totalTokens"`:
			count(val, &u.TotalTokens)
		case `"cacheReadInputTokens"`:
			count(val, &u.CachedTokens)
		case `"cacheWriteInputTokens"`:
			count(val, &u.CacheWriteTokens)
		case `"cacheDetails"`:
			u.CacheHourTokens = usage.CacheWrite1h(val)
		default:
			continue
		}
		u.Reported = true
	}
	u.InputTokens += u.CachedTokens + u.CacheWriteTokens
	if u.TotalTokens == 0 {
		u.TotalTokens = u.InputTokens + u.OutputTokens
	}
	return u
}

// count reads a number of tokens. It leaves to unchanged when raw is not a count.
func count(raw []byte, to *int64) {
	if n, ok := usage.Count(raw); ok {
		*to = n
	}
}

// readBlock reads a content block, an object with one member. A block of an unknown kind remains
// unchanged.
func readBlock(raw []byte) llm.Part {
	p := llm.Part{Kind: llm.OpaquePart, Raw: raw, Shape: shapeName}
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"text"`:
			return llm.Part{Kind: llm.TextPart, Text: plain(val)}
		case `"toolUse"`:
			if jsonedit.Text(val, "type") == "" { // otherwise Amazon runs it
				return readToolUse(val)
			}
		case `"reasoningContent"`:
			return readReasoning(val)
		case `"citationsContent"`:
			return readCited(val)
		case `"image"`:
			return llm.Part{Kind: llm.ImagePart, Media: readMedia("image/", val)}
		case `"audio"`:
			m := readMedia("audio/", val)
			m.Format = jsonedit.Text(val, "format")
			return llm.Part{Kind: llm.AudioPart, Media: m}
		}
	}
	return p
}

func readToolUse(raw []byte) llm.Part {
	args, _ := jsonedit.Find(raw, "input")
	call := &llm.ToolCall{ID: jsonedit.Text(raw, "toolUseId"), Name: jsonedit.Text(raw, "name"), Arguments: string(args)}
	if call.ID == "" {
		call.ID = ident.NewObjectID("call_")
	}
	return llm.Part{Kind: llm.CallPart, Call: call}
}

func readReasoning(raw []byte) llm.Part {
	if data, ok := jsonedit.Find(raw, "redactedContent"); ok {
		return llm.Part{Kind: llm.SealedPart, Text: plain(data), Shape: signatures.ClaudeSigner}
	}
	inner, _ := jsonedit.Find(raw, "reasoningText")
	return signatures.SignedBy(signatures.ClaudeSigner, llm.Part{Kind: llm.ReasoningPart, Text: jsonedit.Text(inner, "text"), Signature: jsonedit.Text(inner, "signature")})
}

// readCited reads a text with its citations.
func readCited(raw []byte) llm.Part {
	p := llm.Part{Kind: llm.TextPart}
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"content"`:
			var text strings.Builder
			for block := range jsonedit.Elements(val) {
				text.WriteString(jsonedit.Text(block, "text"))
			}
			p.Text = text.String()
		case `"citations"`:
			p.Citations, p.Shape = val, shapeName
		}
	}
	return p
}

func readMedia(kind string, raw []byte) *llm.Media {
	m := &llm.Media{MIME: kind + jsonedit.Text(raw, "format")}
	data, _ := jsonedit.Find(raw, "source", "bytes")
	m.Data = plain(data)
	uri, _ := jsonedit.Find(raw, "source", "s3Location", "uri")
	m.URL = plain(uri)
	return m
}
