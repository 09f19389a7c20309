package workersai

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// chat translates text generation from messages.
// Source: https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/ and
// https://developers.cloudflare.com/workers-ai/features/function-calling/traditional/, read 2026-11;
// contract/provider-transforms.md 7.3.
type chat struct{}

var _ dialect.Upstream = chat{}

// params are the fields that text generation has.
var params = []fields.Rename{
	{Path: "raw", To: "raw"}, {Path: "temperature", To: "temperature"}, {Path: "top_p", To: "top_p"}, {Path: "top_k", To: "top_k"},
	{Path: "seed", To: "seed"}, {Path: "repetition_penalty", To: "repetition_penalty"},
	{Path: "frequency_penalty", To: "frequency_penalty"}, {Path: "presence_penalty", To: "presence_penalty"},
}

// EncodeCall builds a request for text.
func (chat) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	w := writer{c: c, t: llm.NewTally(c)}
	w.Open('{')
	if err := w.messages(); err != nil {
		return nil, err
	}
	w.tools()
	w.format()
	writeParams(&w.Writer, w.t)
	if to.Stream {
		w.Bool("stream", true)
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: w.t.Dropped()}, nil
}

func writeParams(w *jsonwriter.Writer, t *llm.FieldTracker) {
	fields.WriteParams(w, t, params)
	if raw, ok := t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw("max_tokens", raw)
	}
}

// writer writes one request.
type writer struct {
	jsonwriter.Writer
	c *llm.Call
	t *llm.FieldTracker
}
