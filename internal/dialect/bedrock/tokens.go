package bedrock

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/claude"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// counting implements the token count of a message. A request for Claude is counted as a native call,
// any other as a Converse call. CountTokens requires the model id without the prefix of a region.
// Source: contract/provider-transforms.md 3.11;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html, read 2026-11.
type counting struct{}

var _ dialect.OpenAIEndpoint = counting{}

// EncodeRequest builds the body of CountTokens.
func (counting) EncodeRequest(ctx context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	out := &dialect.Outgoing{Path: "/model/" + escape(foundation(to.Underlying())) + "/count-tokens"}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("input").Open('{')
	if familyOf(to.Underlying()) == anthropic {
		w.Key("invokeModel").Open('{')
		body, err := media.Inline(ctx, r.Body, to.Fetch)
		if err != nil {
			return nil, err
		}
		native, _ := claudeBody(body, to, countLimit)
		w.Str("body", media.Base64(native))
		w.Close('}')
	} else {
		body, dropped, err := converseTokens(ctx, r.Call, to)
		if err != nil {
			return nil, err
		}
		w.Raw("converse", body)
		out.Dropped = dropped
	}
	w.Close('}')
	w.Close('}')
	out.Body = w.B
	return out, nil
}

// countLimit is the max_tokens of a call that is only counted. Such a call requires a limit.
const countLimit = 10

// converseTokens returns a conversation in the format of CountTokens.
func converseTokens(ctx context.Context, c *llm.Call, to *dialect.Target) (body []byte, dropped []string, err error) {
	if c == nil {
		return nil, nil, fault.New(fault.NotSupported, "counting tokens is not supported for this model by bedrock").WithParam("model")
	}
	c = conversation.StartWithUserTurn(c)
	w := newCallWriter(&callBody{c: c, t: llm.NewTally(c), to: to, family: familyOf(to.Underlying()), model: claude.ParseModel(to.Underlying())})
	w.Open('{')
	if err := w.conversation(ctx); err != nil {
		return nil, nil, err
	}
	w.additional()
	w.Close('}')
	return w.B, w.t.Dropped(), nil
}

// TranslateResponse reads {"inputTokens":12}.
func (counting) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	raw, _ := jsonedit.Find(incoming.Body, "inputTokens")
	n, ok := usage.Count(raw)
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response does not contain a token count")
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Int("input_tokens", n)
	w.Close('}')
	return &dialect.Response{Body: w.B, Model: incoming.To.Model}, nil
}
