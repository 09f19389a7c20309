package gemini

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/modellists"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// models is the list of models of the Gemini API, or of Google's models on Vertex AI.
// Source: https://ai.google.dev/api/models#method:-models.list and
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list,
// read 2026-11; contract/dataplane.md 6.1.
type models struct {
	list  string // name of the member that contains the models
	query string
}

var _ dialect.OpenAIEndpoint = models{}

// EncodeRequest requests as many models as one page can contain.
func (m models) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{Query: m.query}, nil
}

// TranslateResponse writes OpenAI's list.
func (m models) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	if !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a JSON object")
	}
	list, _ := jsonedit.Find(incoming.Body, m.list)
	return modellists.Writer(writeModel).List(list), nil
}

// writeModel writes a model as OpenAI does. Its id is its name without "models/" or
// "publishers/google/models/".
func writeModel(w *jsonwriter.Writer, raw []byte) {
	name := jsonedit.Text(raw, "name")
	w.Open('{')
	w.Str("id", name[strings.LastIndexByte(name, '/')+1:])
	w.Str("object", "model")
	w.Int("created", 0) // Google does not report it
	w.Str("owned_by", "google")
	if shown, ok := jsonedit.Find(raw, "displayName"); ok {
		w.Raw("display_name", shown)
	}
	w.Close('}')
}

// oneModel is a single model of the same lists.
// Source: https://ai.google.dev/api/models#method:-models.get and
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/get,
// read 2026-11.
var oneModel = modellists.One{Name: "name", Write: writeModel}
