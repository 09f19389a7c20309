package reka

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// maxDetailBytes is the maximum length of a quoted error.
const maxDetailBytes = 4 << 10

// DecodeResponse reads {"type":"model","text":…,"finish_reason":"stop","metadata":
// {"input_tokens":10,"generated_tokens":4}}. A response with a detail is an error, even
// with status 200.
func (chat) DecodeResponse(in *dialect.Incoming) (*llm.Response, error) {
	if detail, ok := jsonedit.Find(in.Body, "detail"); ok && string(detail) != "null" {
		return nil, fault.Newf(fault.UpstreamFailed, "%s error: %s", in.To.Provider, detail[:min(len(detail), maxDetailBytes)])
	}
	raw, _ := jsonedit.Find(in.Body, "text")
	text, ok := jsonedit.Unquote(raw)
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no text")
	}
	reason, _ := jsonedit.Find(in.Body, "finish_reason")
	c := llm.Choice{Finish: llm.FinishStop, Parts: []llm.Part{{Kind: llm.TextPart, Text: text}}}
	if c.Raw, _ = jsonedit.Unquote(reason); c.Raw == "length" || c.Raw == "context" {
		c.Finish = llm.FinishLength
	}
	return &llm.Response{Choices: []llm.Choice{c}, Usage: readUsage(in.Body)}, nil
}

func readUsage(body []byte) llm.Usage {
	var u llm.Usage
	var in, out bool
	input, _ := jsonedit.Find(body, "metadata", "input_tokens")
	output, _ := jsonedit.Find(body, "metadata", "generated_tokens")
	u.InputTokens, in = usage.Count(input)
	u.OutputTokens, out = usage.Count(output)
	u.TotalTokens, u.Reported = u.InputTokens+u.OutputTokens, in || out
	return u
}
