package anthropic

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/modellists"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// modelList implements the list of the provider's models.
// Source: https://platform.claude.com/docs/en/api/models/list, read 2026-11;
// contract/dataplane.md 6.1.
type modelList struct{}

var _ dialect.OpenAIEndpoint = modelList{}

// EncodeRequest requests all models in one page, because OpenAI's clients do not page this
// list. 1000 is the maximum page size.
func (modelList) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	query, dropped := page(r.Query)
	if query == "" {
		query = "limit=1000"
	}
	return &dialect.Outgoing{Query: query, Dropped: dropped}, nil
}

// TranslateResponse writes the models in OpenAI's format.
func (modelList) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	models, ok := jsonedit.Find(incoming.Body, "data")
	if !ok || !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a list of models")
	}
	return modellists.Writer(writeModel).List(models), nil
}

func writeModel(w *jsonwriter.Writer, raw []byte) {
	w.Open('{')
	w.Str("id", jsonedit.Text(raw, "id"))
	w.Str("object", "model")
	w.Int("created", epoch(raw, "created_at"))
	w.Str("owned_by", "anthropic")
	w.Opt("display_name", jsonedit.Text(raw, "display_name"))
	w.Close('}')
}

// oneModel implements the retrieval of one model.
// Source: https://platform.claude.com/docs/en/api/models/retrieve, read 2026-11.
var oneModel = modellists.One{Name: "id", Write: writeModel}
