package bedrock

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// embedding is the endpoint of embeddings: Amazon's own models take one input a call,
// Cohere's take lists.
// Source: contract/provider-transforms.md 3.8;
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html,
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html,
// https://docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html, read 2026-11.
type embedding struct{}

var _ dialect.OpenAIEndpoint = embedding{}

// EncodeRequest makes the native body, or one for each input.
func (embedding) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := dialect.Fields(r.Body)
	items, err := dialect.EmbedItems(t)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, fault.New(fault.InvalidParameter, "input must not be empty").WithParam("input")
	}
	e := embedWriter{t: t, model: foundation(to.Underlying())}
	e.format()
	out := &dialect.Outgoing{}
	switch {
	case familyOf(to.Underlying()) == cohere:
		out.Body, err = e.cohere(items)
	case strings.Contains(e.model, "nova"):
		out.Body, out.More, err = e.each(items, e.nova)
	default:
		out.Body, out.More, err = e.each(items, e.titan)
	}
	out.Dropped = t.Dropped()
	return out, err
}

// embedWriter writes the bodies of one request.
type embedWriter struct {
	t     *llm.FieldTracker
	model string
	types []byte // raw: the kinds of vectors that the caller wants of the model, a list
}

// format looks which vectors the caller wants. Numbers come anyway, and base64 is made
// of them by the gateway; what else there is, the model must make.
func (e *embedWriter) format() {
	raw, _ := e.t.Peek("encoding_format")
	if dialect.WantsBase64(e.t) || plain(raw) == "float" || len(raw) == 0 {
		return
	}
	e.types = raw
	if raw[0] != '[' {
		e.types = append(append([]byte{'['}, raw...), ']')
	}
}

// each writes a body for each input.
func (e *embedWriter) each(items []dialect.EmbedItem, write func(*dialect.EmbedItem) ([]byte, error)) (body []byte, more [][]byte, err error) {
	for i := range items {
		b, err := write(&items[i])
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			body = b
		} else {
			more = append(more, b)
		}
	}
	return body, more, nil
}

// bytesOf is the base64 of an image: {"base64":"…"} or the text itself, without the head
// of a data URL.
func bytesOf(raw []byte) (string, error) {
	data, ok := splice.Unquote(raw)
	if !ok {
		data = cmp.Or(splice.Text(raw, "base64"), splice.Text(raw, "url"))
	}
	if _, inside, isURL, err := dialect.DataURL(data); isURL {
		return inside, err
	}
	return data, dialect.CheckBase64(data)
}

// titan writes a body for Titan. Its model for images has the size of the vector in an
// object; its first ones take nothing but the text.
func (e *embedWriter) titan(it *dialect.EmbedItem) ([]byte, error) {
	var w dialect.JSON
	w.Open('{')
	w.Raw("inputText", it.Text)
	if it.Image != nil {
		data, err := bytesOf(it.Image)
		if err != nil {
			return nil, fault.From(err).WithParam("input")
		}
		w.Str("inputImage", data)
	}
	switch {
	case strings.Contains(e.model, "embed-image"):
		if raw, ok := e.t.Consume("dimensions"); ok {
			w.Key("embeddingConfig").Open('{')
			w.Raw("outputEmbeddingLength", raw)
			w.Close('}')
		}
	case strings.Contains(e.model, "embed-text-v1"), strings.Contains(e.model, "embed-g1-text-02"):
	default:
		w.WriteParams(e.t, []dialect.Rename{{Path: "dimensions", To: "dimensions"}, {Path: "normalize", To: "normalize"}})
		if e.types != nil {
			e.t.Consume("encoding_format")
			w.Raw("embeddingTypes", e.types)
		}
	}
	w.Close('}')
	return w.B, nil
}

// purposes are what Nova calls Cohere's input types.
var purposes = map[string]string{
	"search_query": "GENERIC_RETRIEVAL", "search_document": "GENERIC_INDEX", "classification": "CLASSIFICATION", "clustering": "CLUSTERING",
}

// nova writes a body for Nova, which must be told what the vector is for.
func (e *embedWriter) nova(it *dialect.EmbedItem) ([]byte, error) {
	if it.Image != nil {
		return nil, fault.New(fault.InvalidParameter, "input: this provider does not support images here").WithParam("input")
	}
	purpose, _ := e.t.Consume("input_type")
	truncate, cut := e.t.Consume("truncate")
	var w dialect.JSON
	w.Open('{')
	w.Str("taskType", "SINGLE_EMBEDDING")
	w.Key("singleEmbeddingParams").Open('{')
	w.Str("embeddingPurpose", cmp.Or(purposes[plain(purpose)], cmp.Or(plain(purpose), "GENERIC_INDEX")))
	w.WriteParams(e.t, []dialect.Rename{{Path: "dimensions", To: "embeddingDimension"}})
	w.Key("text").Open('{')
	if cut {
		w.Raw("truncationMode", truncate)
	} else {
		w.Str("truncationMode", "END")
	}
	w.Raw("value", it.Text)
	w.Close('}')
	w.Close('}')
	w.Close('}')
	return w.B, nil
}

// cohere writes a body for Cohere, which takes texts or images and must be told what
// the vectors are for.
func (e *embedWriter) cohere(items []dialect.EmbedItem) ([]byte, error) {
	list, kind := dialect.JSON{}, "texts"
	if items[0].Image != nil {
		kind = "images"
	}
	list.Open('[')
	for i := range items {
		switch it := &items[i]; {
		case (it.Image != nil) != (kind == "images") || it.Image != nil && it.Text != nil:
			return nil, fault.New(fault.InvalidParameter, "input must contain only texts or only images for this provider").WithParam("input")
		case it.Image == nil:
			list.Value(it.Text)
		default:
			data := cmp.Or(plain(it.Image), cmp.Or(splice.Text(it.Image, "base64"), splice.Text(it.Image, "url")))
			list.Text(data)
		}
	}
	list.Close(']')
	var w dialect.JSON
	w.Open('{')
	w.Raw(kind, list.B)
	if raw, ok := e.t.Consume("input_type"); ok {
		w.Raw("input_type", raw)
	} else if kind == "images" {
		w.Str("input_type", "image")
	} else {
		w.Str("input_type", "search_document")
	}
	w.WriteParams(e.t, []dialect.Rename{{Path: "truncate", To: "truncate"}})
	if strings.Contains(e.model, "embed-v4") {
		w.WriteParams(e.t, []dialect.Rename{{Path: "dimensions", To: "output_dimension"}})
	}
	if e.types != nil {
		e.t.Consume("encoding_format")
		w.Raw("embedding_types", e.types)
	}
	w.Close('}')
	return w.B, nil
}

// TranslateResponse gathers the vectors of all answers.
func (embedding) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	e := dialect.Embeddings{Model: incoming.To.Model, Base64: dialect.WantsBase64(dialect.Fields(incoming.Sent.Body))}
	for i, body := range append([][]byte{incoming.Body}, incoming.More...) {
		found := vectors(body)
		if len(found) == 0 {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has no embedding")
		}
		e.Vectors = append(e.Vectors, found...)
		e.Usage = e.Usage.Add(embedUsage(incoming, i, body))
	}
	return e.BuildResponse()
}

// embedUsage is what one call used: the headers are those of the first.
func embedUsage(incoming *dialect.Incoming, i int, body []byte) llm.Usage {
	var u llm.Usage
	if i == 0 {
		u = headerUsage(incoming.Header)
	}
	if raw, ok := splice.Find(body, "inputTextTokenCount"); ok && !u.Reported {
		count(raw, &u.InputTokens)
		u.TotalTokens, u.Reported = u.InputTokens, true
	}
	return u
}

// vectors are those of one answer: {"embedding":[…]}, {"embeddings":[[…]]},
// {"embeddings":{"float":[[…]]}} or {"embeddings":[{"embedding":[…]}]}.
func vectors(body []byte) [][]byte {
	if v, ok := splice.Find(body, "embeddingsByType"); ok {
		for _, val := range splice.Members(v) {
			return [][]byte{val}
		}
	}
	if v, ok := splice.Find(body, "embedding"); ok && v[0] == '[' {
		return [][]byte{v}
	}
	list, _ := splice.Find(body, "embeddings")
	for _, val := range splice.Members(list) {
		list = val
		break
	}
	var all [][]byte
	for v := range splice.Elements(list) {
		if inner, ok := splice.Find(v, "embedding"); ok {
			v = inner
		}
		all = append(all, v)
	}
	return all
}
