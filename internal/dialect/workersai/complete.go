package workersai

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// complete translates text generation from a prompt.
// Source: contract/provider-transforms.md 7.3.
type complete struct{}

var _ dialect.Streamer = complete{}

// EncodeRequest builds a request for text. The models are made for conversations. The prompt
// is treated as one, unless the caller sets raw.
func (complete) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := dialect.Prompt(t)
	if err != nil {
		return nil, err
	}
	if raw, _ := t.Peek("raw"); string(raw) != "true" {
		prompt = "\n\nHuman: " + prompt + "\n\nAssistant:"
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("prompt", prompt)
	writeParams(&w, t)
	if to.Stream {
		w.Bool("stream", true)
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"result":{"response":"…"}}.
func (complete) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	r, err := chat{}.DecodeResponse(incoming)
	if err != nil {
		return nil, err
	}
	c := dialect.Completion{ID: r.ID, Created: incoming.Created, Model: incoming.To.Model, Usage: r.Usage}
	for i := range r.Choices {
		var text strings.Builder
		for k := range r.Choices[i].Parts {
			if p := &r.Choices[i].Parts[k]; p.Kind == llm.TextPart {
				text.WriteString(p.Text)
			}
		}
		c.Choices = append(c.Choices, dialect.CompletionChoice{Text: text.String(), Finish: r.Choices[i].Finish})
	}
	return c.BuildResponse(incoming.To.Stream), nil
}

// NewStream turns a stream of text into that of a completion.
func (complete) NewStream(incoming *dialect.Incoming) dialect.StreamTranscoder {
	return dialect.CompletionStream(incoming, chat{}.NewDecoder(incoming))
}
