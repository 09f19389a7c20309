package bytez

import (
	"bytes"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// chat implements /models/v2/{model}.
// Source: https://docs.bytez.com/http-reference/examples/textBased/chat, read 2026-11;
// contract/provider-transforms.md 7.16.
type chat struct{}

var _ dialect.Upstream = chat{}

var params = []fields.Rename{{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "top_p"}}

// EncodeCall builds a request for a chat.
func (chat) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	t := llm.NewTally(c)
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("messages").Open('[')
	for i := range c.Messages {
		m := &c.Messages[i]
		text, err := conversation.PlainText(t, c, m)
		if err != nil {
			return nil, err
		}
		w.Open('{')
		w.Str("role", string(m.Role))
		w.Str("content", text)
		w.Close('}')
	}
	w.Close(']')
	w.Key("params").Open('{')
	if raw, ok := t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw("max_new_tokens", raw)
	}
	fields.WriteParams(&w, t, params)
	w.Close('}')
	if to.Stream {
		w.Bool("stream", true)
	}
	w.Close('}')
	conversation.DropTools(t, c)
	conversation.DropFormat(t, c)
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// DecodeResponse reads {"error":null,"output":{"role":"assistant","content":…}}. The content is a
// string or a list of texts, or output itself is the string. If the caller requested a stream, bare
// text is a valid response, too.
func (chat) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	output, ok := jsonedit.Find(incoming.Body, "output")
	reason, failed := jsonedit.Find(incoming.Body, "error")
	var text string
	switch {
	case failed && string(reason) != "null" && string(reason) != `""`:
		message, _ := jsonedit.Unquote(reason)
		return nil, fault.Newf(fault.UpstreamFailed, "%s error: %s", incoming.To.Provider, message)
	case ok:
		if content, inside := jsonedit.Find(output, "content"); inside {
			output = content
		}
		if text = textOf(output); text == "" && !bytes.ContainsAny(output[:1], `"[n`) { // neither text, list nor null
			return nil, errNoOutput
		}
	case incoming.To.Stream && isText(incoming):
		text = string(incoming.Body)
	default:
		return nil, errNoOutput
	}
	return &llm.Response{Choices: []llm.Choice{{Finish: llm.FinishStop, Parts: []llm.Part{{Kind: llm.TextPart, Text: text}}}}}, nil
}

var errNoOutput = fault.New(fault.UpstreamInvalid, "the provider response has no output")

// isText reports whether a response is bare text: not empty, not HTML and not JSON.
func isText(incoming *dialect.Incoming) bool {
	kind, body := incoming.Header.Get("content-type"), bytes.TrimSpace(incoming.Body)
	return len(body) > 0 && body[0] != '{' && !strings.HasPrefix(kind, "text/html") && !strings.HasPrefix(kind, "application/json")
}

// textOf returns the string "x", or joins the texts of [{"type":"text","text":"x"}].
func textOf(raw []byte) string {
	if s, ok := jsonedit.Unquote(raw); ok {
		return s
	}
	all := ""
	for p := range jsonedit.Elements(raw) {
		val, _ := jsonedit.Find(p, "text")
		s, _ := jsonedit.Unquote(val)
		all += s
	}
	return all
}
