package palm

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// chat translates :generateMessage.
// Source: contract/provider-transforms.md 1.4 and 7.7.
type chat struct{}

var _ dialect.Upstream = chat{}

// authors maps roles to PaLM's names.
var authors = map[llm.Role]string{llm.RoleSystem: "system", llm.RoleDeveloper: "system", llm.RoleUser: "user", llm.RoleAssistant: "assistant"}

// EncodeCall builds a request to :generateMessage. Context and examples are PaLM's own.
func (chat) EncodeCall(_ context.Context, c *llm.Call, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := llm.NewTally(c)
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("prompt").Open('{')
	fields.WriteParams(&w, t, []fields.Rename{{Path: "context", To: "context"}, {Path: "examples", To: "examples"}})
	w.Key("messages").Open('[')
	for i := range c.Messages {
		m := &c.Messages[i]
		text, err := conversation.PlainText(t, c, m)
		if err != nil {
			return nil, err
		}
		w.Open('{')
		w.Str("author", authors[m.Role])
		w.Str("content", text)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
	writeParams(&w, t)
	w.Close('}')
	conversation.DropTools(t, c)
	conversation.DropFormat(t, c)
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// DecodeResponse reads {"candidates":[{"author":"1","content":…}]}. PaLM does not report why
// a response ended, only that it was blocked.
func (chat) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	r := &llm.Response{}
	list, _ := jsonedit.Find(incoming.Body, "candidates")
	for c := range jsonedit.Elements(list) {
		r.Choices = append(r.Choices, llm.Choice{
			Index: len(r.Choices), Finish: llm.FinishStop, Parts: []llm.Part{{Kind: llm.TextPart, Text: jsonedit.Text(c, "content")}},
		})
	}
	if len(r.Choices) == 0 {
		reason, ok := blocked(incoming.Body)
		if !ok {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has no candidates")
		}
		r.Choices = []llm.Choice{{Finish: llm.FinishFilter, Raw: reason}}
	}
	return r, nil
}

// NewDecoder returns a decoder for a response that is not a stream.
func (c chat) NewDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	return dialect.BufferedDecoder(incoming, c)
}
