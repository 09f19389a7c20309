package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// DecodeReply reads a message.
func (messages) DecodeReply(in *dialect.Incoming) (*llm.Reply, error) {
	if splice.Text(in.Body, "type") != "message" || !splice.Valid(in.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider's answer is not a message")
	}
	r := &llm.Reply{Usage: usageOf(in.Body), Choices: make([]llm.Choice, 1)}
	c := &r.Choices[0]
	for key, val := range splice.Members(in.Body) {
		if splice.IsNull(val) {
			continue
		}
		switch name := plainName(key); name {
		case "id":
			r.ID, _ = splice.Unquote(val)
		case "model":
			r.Model, _ = splice.Unquote(val)
		case "content":
			c.Parts = readSaid(val)
		case "stop_reason":
			c.Raw, _ = splice.Unquote(val)
			c.Finish = finishOf(c.Raw)
		case "stop_sequence":
			c.StopText, _ = splice.Unquote(val)
		case "usage":
			eachUsageExtra(val, func(p llm.Param) { r.Extra = append(r.Extra, p) })
		case "type", "role":
		default:
			r.Extra = append(r.Extra, llm.Param{Name: name, Raw: val})
		}
	}
	return r, nil
}

// readSaid reads the blocks of an answer.
func readSaid(content []byte) []llm.Part {
	var parts []llm.Part
	for raw := range splice.Elements(content) {
		parts = append(parts, readBlock(raw))
	}
	return parts
}

func readBlock(raw []byte) llm.Part {
	switch splice.Text(raw, "type") {
	case "text":
		p := llm.Part{Kind: llm.TextPart, Text: splice.Text(raw, "text")}
		if c, _ := splice.Find(raw, "citations"); isList(c) {
			p.Citations, p.Shape = c, shapeName
		}
		return p
	case "thinking":
		return llm.Part{Kind: llm.ThoughtPart, Text: splice.Text(raw, "thinking"), Signature: splice.Text(raw, "signature")}
	case "redacted_thinking":
		return llm.Part{Kind: llm.SealedPart, Text: splice.Text(raw, "data")}
	case "tool_use":
		input, _ := splice.Find(raw, "input")
		if splice.IsNull(input) {
			input = []byte("{}")
		}
		return llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: splice.Text(raw, "id"), Name: splice.Text(raw, "name"), Arguments: string(input)}}
	}
	return llm.Part{Kind: llm.OpaquePart, Raw: raw, Shape: shapeName}
}
