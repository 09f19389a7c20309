package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeResponse reads a message.
func (messages) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	r := jsonedit.NewReader(incoming.Body)
	response := &llm.Response{Choices: make([]llm.Choice, 1)}
	isMessage := false
	for name := range r.Members() {
		switch {
		case r.Null():
		case string(name) == "type":
			isMessage = string(r.Raw()) == `"message"`
		default:
			readMember(response, name, &r)
		}
	}
	if !isMessage || !r.IsComplete() {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a message")
	}
	return response, nil
}

// readMember reads one member of a message.
func readMember(response *llm.Response, name []byte, r *jsonedit.Reader) {
	switch c := &response.Choices[0]; string(name) {
	case "id":
		response.ID, _ = jsonedit.Unquote(r.Raw())
	case "model":
		response.Model, _ = jsonedit.Unquote(r.Raw())
	case "content":
		for range r.Elements() {
			c.Parts = append(c.Parts, readBlock(r.Raw()))
		}
	case "stop_reason":
		c.Raw, _ = jsonedit.Unquote(r.Raw())
		c.Finish = finishOf(c.Raw)
	case "stop_sequence":
		c.StopText, _ = jsonedit.Unquote(r.Raw())
	case "usage":
		used := r.Raw()
		response.Usage = usage.ReadObject(llm.Messages, used)
		eachUsageExtra(used, func(p llm.Param) { response.Extra = append(response.Extra, p) })
	case "role":
	default:
		response.Extra = append(response.Extra, llm.Param{Name: string(name), Raw: r.Raw()})
	}
}

// block contains the raw members of a block that the hub has fields for.
type block struct{ text, thinking, signature, data, id, name, input, citations []byte }

func readBlock(raw []byte) llm.Part {
	var typ []byte
	var b block
	r := jsonedit.NewReader(raw)
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
		return signatures.SignedBy(signatures.ClaudeSigner, llm.Part{Kind: llm.ReasoningPart, Text: plainName(b.thinking), Signature: plainName(b.signature)})
	case `"redacted_thinking"`:
		return llm.Part{Kind: llm.SealedPart, Text: plainName(b.data), Shape: signatures.ClaudeSigner}
	case `"tool_use"`:
		if jsonedit.IsNull(b.input) {
			b.input = []byte("{}")
		}
		return llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: plainName(b.id), Name: plainName(b.name), Arguments: string(b.input)}}
	}
	return llm.Part{Kind: llm.OpaquePart, Raw: raw, Shape: shapeName}
}
