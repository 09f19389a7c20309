package cohere

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// generate implements /v1/generate, which continues a text. It requests buffered responses only and
// builds streams from them.
// Source: https://docs.cohere.com/v1/reference/generate, read 2026-11;
// contract/provider-transforms.md 6.4.
type generate struct{}

var _ dialect.OpenAIEndpoint = generate{}

var generateParams = []fields.Rename{
	{Path: "max_tokens", To: "max_tokens"}, {Path: "temperature", To: "temperature"}, {Path: "top_p", To: "p"},
	{Path: "frequency_penalty", To: "frequency_penalty"}, {Path: "presence_penalty", To: "presence_penalty"},
	{Path: "n", To: "num_generations"}, {Path: "seed", To: "seed"}, {Path: "truncate", To: "truncate"}, {Path: "preset", To: "preset"},
	{Path: "return_likelihoods", To: "return_likelihoods"}, {Path: "raw_prompting", To: "raw_prompting"},
}

// EncodeRequest builds a request to /v1/generate.
func (generate) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := dialect.Prompt(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model", to.Model)
	w.Str("prompt", prompt)
	fields.WriteParams(&w, t, generateParams)
	if raw, ok := t.First("k", "top_k"); ok {
		w.Raw("k", raw)
	}
	if raw, ok := t.Consume("stop"); ok {
		w.List("end_sequences", raw)
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"id":…,"generations":[{"text":…}],"meta":{…}}.
func (generate) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	list, _ := jsonedit.Find(incoming.Body, "generations")
	meta, _ := jsonedit.Find(incoming.Body, "meta")
	c := dialect.Completion{ID: jsonedit.Text(incoming.Body, "id"), Created: incoming.Created, Model: incoming.To.Model, Usage: readUsage(meta)}
	for g := range jsonedit.Elements(list) {
		c.Choices = append(c.Choices, dialect.CompletionChoice{Text: jsonedit.Text(g, "text"), Finish: finishOf(jsonedit.Text(g, "finish_reason"))})
	}
	if len(c.Choices) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no generations")
	}
	return c.BuildResponse(incoming.To.Stream), nil
}
