package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// DecodeReply reads a message.
func (messages) DecodeReply(in *dialect.Incoming) (*llm.Response, error) {
	r := splice.NewReader(in.Body)
	reply := &llm.Response{Choices: make([]llm.Choice, 1)}
	isMessage := false
	for name := range r.Members() {
		switch {
		case r.Null():
		case string(name) == "type":
			isMessage = string(r.Raw()) == `"message"`
		default:
			readMember(reply, name, &r)
		}
	}
	if !isMessage || !r.Whole() {
		return nil, fault.New(fault.UpstreamInvalid, "the provider's answer is not a message")
	}
	return reply, nil
}

// readMember reads one member of a message.
func readMember(reply *llm.Response, name []byte, r *splice.Reader) {
	switch c := &reply.Choices[0]; string(name) {
	case "id":
		reply.ID, _ = splice.Unquote(r.Raw())
	case "model":
		reply.Model, _ = splice.Unquote(r.Raw())
	case "content":
		for range r.Elements() {
			c.Parts = append(c.Parts, readBlock(r.Raw()))
		}
	case "stop_reason":
		c.Raw, _ = splice.Unquote(r.Raw())
		c.Finish = finishOf(c.Raw)
	case "stop_sequence":
		c.StopText, _ = splice.Unquote(r.Raw())
	case "usage":
		usage := r.Raw()
		reply.Usage = dialect.UsageOf(llm.Messages, usage)
		eachUsageExtra(usage, func(p llm.Param) { reply.Extra = append(reply.Extra, p) })
	case "role":
	default:
		reply.Extra = append(reply.Extra, llm.Param{Name: string(name), Raw: r.Raw()})
	}
}

// block is the members of a block that the hub has a place for, as they stand in it.
type block struct{ text, thinking, signature, data, id, name, input, citations []byte }

func readBlock(raw []byte) llm.Part {
	var typ []byte
	var b block
	r := splice.NewReader(raw)
	for name := range r.Members() {
		switch val := r.Raw(); string(name) {
		case "type":
			typ = val
		case "text":
			b.text = val
		case "thinking":
			b.thinking = val
		case "signature":
			b.signature = val
		case "data":
			b.data = val
		case "id":
			b.id = val
		case "name":
			b.name = val
		case "input":
			b.input = val
		case "citations":
			b.citations = val
		}
	}
	switch string(typ) {
	case `"text"`:
		p := llm.Part{Kind: llm.TextPart, Text: plainName(b.text)}
		if isList(b.citations) {
			p.Citations, p.Shape = b.citations, shapeName
		}
		return p
	case `"thinking"`:
		return dialect.SignedBy(dialect.ClaudeSigner, llm.Part{Kind: llm.ThoughtPart, Text: plainName(b.thinking), Signature: plainName(b.signature)})
	case `"redacted_thinking"`:
		return llm.Part{Kind: llm.SealedPart, Text: plainName(b.data), Shape: dialect.ClaudeSigner}
	case `"tool_use"`:
		if splice.IsNull(b.input) {
			b.input = []byte("{}")
		}
		return llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: plainName(b.id), Name: plainName(b.name), Arguments: string(b.input)}}
	}
	return llm.Part{Kind: llm.OpaquePart, Raw: raw, Shape: shapeName}
}
