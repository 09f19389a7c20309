package modellists

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// Writer writes a provider's model, a raw JSON object, in OpenAI's shape:
//
//	{"id":"claude-sonnet-4-5","object":"model","created":1759104000,"owned_by":"anthropic"}
//
// Source: https://platform.openai.com/docs/api-reference/models/object, read 2026-11.
type Writer func(w *jsonwriter.Writer, raw []byte)

// List writes the elements of a raw JSON array as OpenAI's list of models. Anything else becomes
// an empty list.
func (write Writer) List(models []byte) *dialect.Response {
	var w jsonwriter.Writer
	w.OpenList()
	for raw := range jsonedit.Elements(models) {
		write(&w, raw)
	}
	w.Close(']')
	w.Close('}')
	return &dialect.Response{Body: w.B}
}

// One writes one model.
func (write Writer) One(raw []byte) *dialect.Response {
	var w jsonwriter.Writer
	write(&w, raw)
	return &dialect.Response{Body: w.B}
}

// One retrieves one model from a provider whose response is the model itself. It is shared
// and immutable.
type One struct {
	Name  string // member that every model has: "id"
	Write Writer
}

var _ dialect.OpenAIEndpoint = One{}

// EncodeRequest returns an empty request: the path identifies the model.
func (One) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

// TranslateResponse writes the model in OpenAI's shape. Any other body is fault.UpstreamInvalid.
func (m One) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	if jsonedit.Text(incoming.Body, m.Name) == "" || !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a model")
	}
	return m.Write.One(incoming.Body), nil
}
