package gemini

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/splice"
)

// models is the list of models, of the Gemini API or of Google's on Vertex AI.
// Source: https://ai.google.dev/api/models#method:-models.list and
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list,
// read 2026-11; contract/dataplane.md 6.1.
type models struct {
	list  string // name of the member that has them
	query string
}

var _ dialect.Unified = models{}

// EncodeRequest asks for as many as one page can hold.
func (m models) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{Query: m.query}, nil
}

// DecodeAnswer writes OpenAI's list.
func (m models) DecodeAnswer(in *dialect.Incoming) (*dialect.Answer, error) {
	if !splice.Valid(in.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider's answer is not a JSON object")
	}
	list, _ := splice.Find(in.Body, m.list)
	var w dialect.JSON
	w.Open('{')
	w.Str("object", "list")
	w.Key("data").Open('[')
	for e := range splice.Elements(list) {
		writeModel(&w, e)
	}
	w.Close(']')
	w.Close('}')
	return &dialect.Answer{Body: w.B}, nil
}

// writeModel writes a model as OpenAI does. Its id is its name without "models/" or
// "publishers/google/models/".
func writeModel(w *dialect.JSON, raw []byte) {
	name := splice.Text(raw, "name")
	w.Open('{')
	w.Str("id", name[strings.LastIndexByte(name, '/')+1:])
	w.Str("object", "model")
	w.Int("created", 0) // Google does not say
	w.Str("owned_by", "google")
	if shown, ok := splice.Find(raw, "displayName"); ok {
		w.Raw("display_name", shown)
	}
	w.Close('}')
}

// oneModel is a single model of the same lists.
// Source: https://ai.google.dev/api/models#method:-models.get and
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/get,
// read 2026-11.
type oneModel struct{}

var _ dialect.Unified = oneModel{}

// EncodeRequest asks for nothing beyond the path.
func (oneModel) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

// DecodeAnswer writes the model in OpenAI's shape.
func (oneModel) DecodeAnswer(in *dialect.Incoming) (*dialect.Answer, error) {
	if splice.Text(in.Body, "name") == "" || !splice.Valid(in.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider's answer is no model")
	}
	var w dialect.JSON
	writeModel(&w, in.Body)
	return &dialect.Answer{Body: w.B}, nil
}
