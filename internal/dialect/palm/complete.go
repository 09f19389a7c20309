package palm

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// complete translates :generateText.
// Source: contract/provider-transforms.md 7.7.
type complete struct{}

var _ dialect.OpenAIEndpoint = complete{}

// EncodeRequest builds a request to :generateText.
func (complete) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := dialect.Prompt(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("prompt").Open('{')
	w.Str("text", prompt)
	w.Close('}')
	writeParams(&w, t)
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"candidates":[{"output":…}]}.
func (complete) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	c := dialect.Completion{Created: incoming.Created, Model: incoming.To.Model}
	list, _ := jsonedit.Find(incoming.Body, "candidates")
	for o := range jsonedit.Elements(list) {
		c.Choices = append(c.Choices, dialect.CompletionChoice{Text: jsonedit.Text(o, "output"), Finish: llm.FinishStop})
	}
	if len(c.Choices) == 0 {
		if _, ok := blocked(incoming.Body); !ok {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has no candidates")
		}
		c.Choices = []dialect.CompletionChoice{{Finish: llm.FinishFilter}}
	}
	return c.BuildResponse(incoming.To.Stream), nil
}
