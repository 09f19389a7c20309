package dialect

import (
	"context"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/fault"
	"sluice/internal/splice"
)

// ModelWriter writes a provider's model, a raw JSON object, in OpenAI's shape:
//
//	{"id":"claude-sonnet-4-5","object":"model","created":1759104000,"owned_by":"anthropic"}
//
// Source: https://platform.openai.com/docs/api-reference/models/object, read 2026-11.
type ModelWriter func(w *jsonwriter.Writer, raw []byte)

// List writes the elements of a raw JSON array as OpenAI's list of models. Anything else becomes
// an empty list.
func (write ModelWriter) List(models []byte) *Response {
	var w jsonwriter.Writer
	w.OpenList()
	for raw := range splice.Elements(models) {
		write(&w, raw)
	}
	w.Close(']')
	w.Close('}')
	return &Response{Body: w.B}
}

// One writes one model.
func (write ModelWriter) One(raw []byte) *Response {
	var w jsonwriter.Writer
	write(&w, raw)
	return &Response{Body: w.B}
}

// OneModel retrieves one model from a provider whose response is the model itself. It is shared
// and immutable.
type OneModel struct {
	Name  string // member that every model has: "id"
	Write ModelWriter
}

var _ OpenAIEndpoint = OneModel{}

// EncodeRequest returns an empty request: the path identifies the model.
func (OneModel) EncodeRequest(context.Context, *Request, *Target) (*Outgoing, error) {
	return &Outgoing{}, nil
}

// TranslateResponse writes the model in OpenAI's shape. Any other body is fault.UpstreamInvalid.
func (m OneModel) TranslateResponse(incoming *Incoming) (*Response, error) {
	if splice.Text(incoming.Body, m.Name) == "" || !splice.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a model")
	}
	return m.Write.One(incoming.Body), nil
}
