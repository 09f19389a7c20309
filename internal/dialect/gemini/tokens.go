package gemini

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// countTokens is countTokens of Vertex AI or, with request set, of the Gemini API. It
// counts the input tokens of a conversation. The Gemini API takes instructions and tools
// only inside the request that is to be counted.
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens,
// and https://ai.google.dev/api/tokens, read 2026-11; contract/provider-transforms.md 4.11.
type countTokens struct{ request bool }

var _ dialect.OpenAIEndpoint = countTokens{}

// EncodeRequest requests the tokens of the conversation and its tools. Settings for the
// generation do not matter.
func (n countTokens) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	w := newWriter(r.Call, to.Model)
	w.Open('{')
	if n.request {
		w.Key("generateContentRequest").Open('{')
		w.Str("model", "models/"+strings.TrimPrefix(to.Model, "models/"))
	}
	if err := w.conversation(); err != nil {
		return nil, err
	}
	w.tools()
	if n.request {
		w.Close('}')
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: w.t.Dropped()}, nil
}

// TranslateResponse turns {"totalTokens":31} into {"input_tokens":31}.
func (countTokens) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	raw, ok := jsonedit.Find(incoming.Body, "totalTokens")
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no totalTokens")
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Int("input_tokens", count(raw))
	w.Close('}')
	return &dialect.Response{Body: w.B, Usage: llm.Usage{InputTokens: count(raw), Reported: true}}, nil
}
