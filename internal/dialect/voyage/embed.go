package voyage

import (
	"context"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// embed is POST /v1/embeddings. What differs from OpenAI's is spliced in; vectors keep
// their bytes.
// Source: https://docs.voyageai.com/reference/embeddings-api, read 2026-11.
type embed struct{}

var _ dialect.OpenAIEndpoint = embed{}

// EncodeRequest sends a single text as a list and uses Voyage's name for the length of
// vectors. It omits "float", which is Voyage's default and has no name there.
func (embed) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	var d jsonedit.Doc
	if err := jsonedit.Scan(r.Body, &d); err != nil {
		return nil, err
	}
	edits := []jsonedit.Edit{jsonedit.Set("model", jsonedit.Quote(to.Model)), jsonedit.Rename("dimensions", "output_dimension")}
	if text, ok := d.Raw("input"); ok && text[0] == '"' {
		edits = append(edits, jsonedit.Set("input", append(append([]byte{'['}, text...), ']')))
	}
	if form, _ := d.String("encoding_format"); form == "float" {
		edits = append(edits, jsonedit.Drop("encoding_format"))
	}
	return &dialect.Outgoing{Body: d.Apply(edits)}, nil
}

// TranslateResponse adds prompt_tokens, which equals the total.
func (embed) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	var d jsonedit.Doc
	if err := jsonedit.Scan(incoming.Body, &d); err != nil || !d.Has("data") {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no embeddings").WithCause(err)
	}
	a := &dialect.Response{}
	a.Usage, a.Model = usage.Read(llm.Embed, incoming.Body, "")
	a.Body = d.Apply([]jsonedit.Edit{jsonedit.SetPath("usage.prompt_tokens", strconv.AppendInt(nil, a.Usage.InputTokens, 10))})
	return a, nil
}
