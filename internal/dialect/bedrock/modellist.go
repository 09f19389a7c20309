package bedrock

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/modellists"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// modelList implements the list of the models of a region, and the retrieval of one model.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html
// and API_GetFoundationModel.html there, read 2026-11; contract/dataplane.md 6.1.
type modelList struct{}

var _ dialect.OpenAIEndpoint = modelList{}

// EncodeRequest requests all models: Amazon does not page the list.
func (modelList) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

// TranslateResponse writes {"modelSummaries":[…]} or {"modelDetails":{…}} in OpenAI's format.
func (modelList) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	member := "modelSummaries"
	if incoming.Sent.Endpoint == llm.RetrieveModel {
		member = "modelDetails"
	}
	found, ok := jsonedit.Find(incoming.Body, member)
	if !ok || !jsonedit.Valid(incoming.Body) {
		return nil, fault.Newf(fault.UpstreamInvalid, "the provider response has no %s", member)
	}
	write := modellists.Writer(writeModel)
	if incoming.Sent.Endpoint == llm.RetrieveModel {
		return write.One(found), nil
	}
	return write.List(found), nil
}

func writeModel(w *jsonwriter.Writer, raw []byte) {
	w.Open('{')
	w.Str("id", jsonedit.Text(raw, "modelId"))
	w.Str("object", "model")
	w.Int("created", 0) // Amazon does not report it
	w.Str("owned_by", jsonedit.Text(raw, "providerName"))
	w.Opt("display_name", jsonedit.Text(raw, "modelName"))
	w.Close('}')
}
