package ai21

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// chat implements /{model}/chat.
// Source: https://docs.ai21.com/reference/j2-chat-api, read 2026-11.
type chat struct{}

var _ dialect.Upstream = chat{}

// EncodeCall builds a request to /{model}/chat. All system messages, wherever they are in the
// call, go before the conversation.
func (chat) EncodeCall(_ context.Context, c *llm.Call, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := llm.NewTally(c)
	var w jsonwriter.Writer
	w.Open('{')
	system, err := systemOf(t, c)
	if err != nil {
		return nil, err
	}
	w.Opt("system", system)
	w.Key("messages").Open('[')
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == llm.RoleSystem || m.Role == llm.RoleDeveloper {
			continue
		}
		text, err := conversation.PlainText(t, c, m)
		if err != nil {
			return nil, err
		}
		w.Open('{')
		w.Str("text", text)
		w.Str("role", string(m.Role))
		w.Close('}')
	}
	w.Close(']')
	writeParams(&w, t)
	w.Close('}')
	conversation.DropTools(t, c)
	conversation.DropFormat(t, c)
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

func systemOf(t *llm.FieldTracker, c *llm.Call) (string, error) {
	var texts []string
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role != llm.RoleSystem && m.Role != llm.RoleDeveloper {
			continue
		}
		text, err := conversation.PlainText(t, c, m)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// DecodeResponse reads {"id":…,"outputs":[{"text":…,"role":"assistant","finishReason":{…}}]}.
func (chat) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	r := &llm.Response{ID: idOf(incoming.Body)}
	outputs, _ := jsonedit.Find(incoming.Body, "outputs")
	for o := range jsonedit.Elements(outputs) {
		c := llm.Choice{Index: len(r.Choices), Parts: []llm.Part{{Kind: llm.TextPart, Text: jsonedit.Text(o, "text")}}}
		c.Finish, c.Raw = finishOf(o)
		r.Choices = append(r.Choices, c)
	}
	if len(r.Choices) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no outputs")
	}
	return r, nil
}

// NewDecoder returns a decoder for a response that is not a stream.
func (c chat) NewDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	return dialect.BufferedDecoder(incoming, c)
}
