package cohere

import (
	"slices"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeResponse reads a response of /v2/chat.
func (chat) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	r := &llm.Response{Choices: make([]llm.Choice, 1)}
	c := &r.Choices[0]
	var message []byte
	for name, val := range jsonedit.Members(incoming.Body) {
		switch string(name) {
		case `"id"`:
			r.ID, _ = jsonedit.Unquote(val)
		case `"finish_reason"`:
			c.Raw, _ = jsonedit.Unquote(val)
			c.Finish = finishOf(c.Raw)
		case `"message"`:
			message = val
		case `"usage"`:
			r.Usage = readUsage(val)
		case `"logprobs"`:
			if list := logprobs(val); list != nil {
				c.Logprobs = append(append([]byte(`{"content":`), list...), '}')
			}
		}
	}
	if len(message) == 0 || message[0] != '{' {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no message")
	}
	readMessage(c, message)
	if text, failed := failures[c.Raw]; failed && !conversation.Useful(c.Parts) {
		return nil, conversation.EmptyTurn(c.Raw, text)
	}
	return r, nil
}

// readMessage reads the message: reasoning and text, the tool plan, the calls.
func readMessage(c *llm.Choice, raw []byte) {
	var plan, calls, notes []byte
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"content"`:
			c.Parts = readContent(val)
		case `"tool_plan"`:
			plan = val
		case `"tool_calls"`:
			calls = val
		case `"citations"`:
			notes = val
		}
	}
	cite(c.Parts, notes)
	c.Parts = slices.DeleteFunc(c.Parts, func(p llm.Part) bool { return p.Text == "" })
	if text, _ := jsonedit.Unquote(plan); text != "" {
		if hasText(c.Parts) {
			c.Extra = append(c.Extra, llm.Param{Name: "tool_plan", Raw: plan})
		} else {
			c.Parts = append(c.Parts, llm.Part{Kind: llm.TextPart, Text: text})
		}
	}
	for val := range jsonedit.Elements(calls) {
		id, name, arguments := readCall(val)
		c.Parts = append(c.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: id, Name: name, Arguments: arguments}})
	}
}

func readContent(raw []byte) []llm.Part {
	if text, ok := jsonedit.Unquote(raw); ok {
		return []llm.Part{{Kind: llm.TextPart, Text: text}}
	}
	var parts []llm.Part
	for val := range jsonedit.Elements(raw) {
		if reasoning, ok := jsonedit.Find(val, "thinking"); ok {
			text, _ := jsonedit.Unquote(reasoning)
			parts = append(parts, llm.Part{Kind: llm.ReasoningPart, Text: text})
			continue
		}
		parts = append(parts, llm.Part{Kind: llm.TextPart, Text: jsonedit.Text(val, "text")})
	}
	return parts
}

// toolcalls.hasText reports whether parts contains a text part.
func hasText(parts []llm.Part) bool {
	for i := range parts {
		if parts[i].Kind == llm.TextPart {
			return true
		}
	}
	return false
}

// cite adds each citation to the part that it refers to.
func cite(parts []llm.Part, notes []byte) {
	for note := range jsonedit.Elements(notes) {
		index := citationIndex(note)
		if index >= len(parts) {
			continue
		}
		p := &parts[index]
		if p.Citations == nil {
			p.Shape, p.Citations = "cohere", []byte{'['}
		} else {
			p.Citations[len(p.Citations)-1] = ','
		}
		p.Citations = append(append(p.Citations, note...), ']')
	}
}

// citationIndex returns the index of the content that a citation refers to.
func citationIndex(note []byte) int {
	raw, _ := jsonedit.Find(note, "content_index")
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// readCall reads {"id":…,"type":"function","function":{"name":…,"arguments":…}}.
func readCall(raw []byte) (id, name, arguments string) {
	fn, _ := jsonedit.Find(raw, "function")
	if id = jsonedit.Text(raw, "id"); id == "" {
		id = ident.NewObjectID("call_")
	}
	return id, jsonedit.Text(fn, "name"), jsonedit.Text(fn, "arguments")
}
