package ai21

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// complete implements /{model}/complete.
// Source: https://docs.ai21.com/docs/j2-complete-api-ref, read 2026-11.
type complete struct{}

var _ dialect.OpenAIEndpoint = complete{}

// EncodeRequest builds a request to /{model}/complete.
func (complete) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := dialect.Prompt(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("prompt", prompt)
	writeParams(&w, t)
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"id":…,"prompt":{"tokens":[…]},"completions":[{"data":{"text":…,
// "tokens":[…]},"finishReason":{…}}]}. AI21 lists the tokens and does not count them.
func (complete) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	c := dialect.Completion{ID: idOf(incoming.Body), Created: incoming.Created, Model: incoming.To.Model}
	c.Usage.InputTokens, c.Usage.Reported = tokens(incoming.Body, "prompt", "tokens")
	list, _ := jsonedit.Find(incoming.Body, "completions")
	for o := range jsonedit.Elements(list) {
		data, _ := jsonedit.Find(o, "data")
		finish, _ := finishOf(o)
		c.Choices = append(c.Choices, dialect.CompletionChoice{Text: jsonedit.Text(data, "text"), Finish: finish})
		n, ok := tokens(data, "tokens")
		c.Usage.OutputTokens += n
		c.Usage.Reported = c.Usage.Reported || ok
	}
	if len(c.Choices) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no completions")
	}
	c.Usage.TotalTokens = c.Usage.InputTokens + c.Usage.OutputTokens
	return c.BuildResponse(incoming.To.Stream), nil
}

// tokens returns the number of tokens in a list.
func tokens(raw []byte, path ...string) (n int64, ok bool) {
	list, ok := jsonedit.Find(raw, path...)
	for range jsonedit.Elements(list) {
		n++
	}
	return n, ok
}
