// Package triton translates requests for Triton's generate extension, as its backends for
// language models use it. Start reading at Dialect.
package triton

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect returns the shape.
// Source: contract/provider-transforms.md 7.15.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "triton", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.Complete: complete{}}}
}

// complete translates /generate.
type complete struct{}

var _ dialect.OpenAIEndpoint = complete{}

// always are the fields that the backends require in every request, with the values for
// callers that do not send them.
var always = []struct{ name, value string }{{"max_tokens", "100"}, {"temperature", "0.7"}, {"top_p", "0.7"}, {"top_k", "50"}}

// EncodeRequest builds a request to /generate.
func (complete) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := dialect.Prompt(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("text_input", prompt)
	for _, f := range always {
		if raw, ok := t.Consume(f.name); ok {
			w.Raw(f.name, raw)
		} else {
			w.Raw(f.name, []byte(f.value))
		}
	}
	if raw, ok := t.Consume("stop"); ok {
		w.List("stop_words", raw)
	}
	if raw, ok := t.Consume("bad_words"); ok {
		w.List("bad_words", raw)
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"model_name":…,"text_output":…}.
func (complete) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	raw, _ := jsonedit.Find(incoming.Body, "text_output")
	text, ok := jsonedit.Unquote(raw)
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no text")
	}
	c := dialect.Completion{Created: incoming.Created, Model: incoming.To.Model, Choices: []dialect.CompletionChoice{{Text: text, Finish: llm.FinishStop}}}
	name, _ := jsonedit.Find(incoming.Body, "model_name")
	if s, _ := jsonedit.Unquote(name); s != "" {
		c.Model = s
	}
	return c.BuildResponse(incoming.To.Stream), nil
}
