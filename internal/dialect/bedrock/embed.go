package bedrock

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// embedding implements the embeddings endpoint. Amazon's own models accept one input per call.
// Cohere's models accept lists.
// Source: contract/provider-transforms.md 3.8;
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html,
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html,
// https://docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html, read 2026-11.
type embedding struct{}

var _ dialect.OpenAIEndpoint = embedding{}

// EncodeRequest builds the native request body. For models that accept one input per call it
// builds one body per input.
func (embedding) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	items, err := embeddings.ReadItems(t)
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

// embedWriter writes the request bodies of one embeddings request.
type embedWriter struct {
	t     *llm.FieldTracker
	model string
	types []byte // raw JSON list of the vector types that the model must return; nil for numbers and base64
}

// format records the vector types that the model must return. Every model returns numbers by
// default, and the gateway converts them to base64. All other encoding formats must come from the
// model.
func (e *embedWriter) format() {
	raw, _ := e.t.Peek("encoding_format")
	if embeddings.WantsBase64(e.t) || plain(raw) == "float" || len(raw) == 0 {
		return
	}
	e.types = raw
	if raw[0] != '[' {
		e.types = append(append([]byte{'['}, raw...), ']')
	}
}

// each writes one body per input.
func (e *embedWriter) each(items []embeddings.Item, write func(*embeddings.Item) ([]byte, error)) (body []byte, more [][]byte, err error) {
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

// bytesOf returns the base64 data of an image without the prefix of a data URL. raw is a string,
// or an object such as {"base64":"…"} or {"url":"data:…"}. Data that is not valid base64 is an
// error.
func bytesOf(raw []byte) (string, error) {
	data, ok := jsonedit.Unquote(raw)
	if !ok {
		data = cmp.Or(jsonedit.Text(raw, "base64"), jsonedit.Text(raw, "url"))
	}
	if _, inside, isURL, err := media.DataURL(data); isURL {
		return inside, err
	}
	return data, media.CheckBase64(data)
}

// titan writes a body for Titan. The image model expects the vector size inside an object. The
// first text models accept only the text.
func (e *embedWriter) titan(it *embeddings.Item) ([]byte, error) {
	var w jsonwriter.Writer
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
		fields.WriteParams(&w, e.t, []fields.Rename{{Path: "dimensions", To: "dimensions"}, {Path: "normalize", To: "normalize"}})
		if e.types != nil {
			e.t.Consume("encoding_format")
			w.Raw("embeddingTypes", e.types)
		}
	}
	w.Close('}')
	return w.B, nil
}

// purposes maps Cohere's input types to Nova's embedding purposes.
var purposes = map[string]string{
	"search_query": "GENERIC_RETRIEVAL", "search_document": "GENERIC_INDEX", "classification": "CLASSIFICATION", "clustering": "CLUSTERING",
}

// nova writes a body for Nova, which requires the purpose of the vector.
func (e *embedWriter) nova(it *embeddings.Item) ([]byte, error) {
	if it.Image != nil {
		return nil, fault.New(fault.InvalidParameter, "input: this provider does not support images here").WithParam("input")
	}
	purpose, _ := e.t.Consume("input_type")
	truncate, cut := e.t.Consume("truncate")
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("taskType", "SINGLE_EMBEDDING")
	w.Key("singleEmbeddingParams").Open('{')
	w.Str("embeddingPurpose", cmp.Or(purposes[plain(purpose)], cmp.Or(plain(purpose), "GENERIC_INDEX")))
	fields.WriteParams(&w, e.t, []fields.Rename{{Path: "dimensions", To: "embeddingDimension"}})
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

// cohere writes a body for Cohere, which accepts either texts or images and requires an input
// type.
func (e *embedWriter) cohere(items []embeddings.Item) ([]byte, error) {
	list, kind := jsonwriter.Writer{}, "texts"
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
			data := cmp.Or(plain(it.Image), cmp.Or(jsonedit.Text(it.Image, "base64"), jsonedit.Text(it.Image, "url")))
			list.Text(data)
		}
	}
	list.Close(']')
	var w jsonwriter.Writer
	w.Open('{')
	w.Raw(kind, list.B)
	if raw, ok := e.t.Consume("input_type"); ok {
		w.Raw("input_type", raw)
	} else if kind == "images" {
		w.Str("input_type", "image")
	} else {
		w.Str("input_type", "search_document")
	}
	fields.WriteParams(&w, e.t, []fields.Rename{{Path: "truncate", To: "truncate"}})
	if strings.Contains(e.model, "embed-v4") {
		fields.WriteParams(&w, e.t, []fields.Rename{{Path: "dimensions", To: "output_dimension"}})
	}
	if e.types != nil {
		e.t.Consume("encoding_format")
		w.Raw("embedding_types", e.types)
	}
	w.Close('}')
	return w.B, nil
}

// TranslateResponse collects the vectors of all provider responses.
func (embedding) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	e := embeddings.Result{Model: incoming.To.Model, Base64: embeddings.WantsBase64(fields.Track(incoming.Sent.Body))}
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

// embedUsage returns the usage of call i. Headers are available only for the first call.
func embedUsage(incoming *dialect.Incoming, i int, body []byte) llm.Usage {
	var u llm.Usage
	if i == 0 {
		u = headerUsage(incoming.Header)
	}
	if raw, ok := jsonedit.Find(body, "inputTextTokenCount"); ok && !u.Reported {
		count(raw, &u.InputTokens)
		u.TotalTokens, u.Reported = u.InputTokens, true
	}
	return u
}

// vectors returns the vectors of one provider response: {"embedding":[…]},
// {"embeddingsByType":{"float":[…]}}, {"embeddings":[[…]]}, {"embeddings":{"float":[[…]]}} or
// {"embeddings":[{"embedding":[…]}]}.
func vectors(body []byte) [][]byte {
	if v, ok := jsonedit.Find(body, "embeddingsByType"); ok {
		for _, val := range jsonedit.Members(v) {
			return [][]byte{val}
		}
	}
	if v, ok := jsonedit.Find(body, "embedding"); ok && v[0] == '[' {
		return [][]byte{v}
	}
	list, _ := jsonedit.Find(body, "embeddings")
	for _, val := range jsonedit.Members(list) {
		list = val
		break
	}
	var all [][]byte
	for v := range jsonedit.Elements(list) {
		if inner, ok := jsonedit.Find(v, "embedding"); ok {
			v = inner
		}
		all = append(all, v)
	}
	return all
}
