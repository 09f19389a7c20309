// Package embeddings reads requests to /embeddings and writes responses in OpenAI's shape. Start with
// ReadItems and Result.
package embeddings

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Item is one input of an embeddings request, raw JSON: a text with its quotes, or an
// image in the caller's format, for example {"base64":"iVBO…"}.
type Item struct{ Text, Image []byte }

// ReadItems reads the input of an embeddings request: "x", ["x","y"], [{"text":"x"}] or
// [{"image":{…}}]. Token inputs, which only OpenAI's models understand, and anything else
// are fault.InvalidParameter with Param, for example "input[2]".
func ReadItems(t *llm.FieldTracker) ([]Item, error) {
	raw, ok := t.Consume("input")
	switch {
	case !ok:
		return nil, fault.New(fault.InvalidParameter, "input is required; send it in the request body").WithParam("input")
	case raw[0] == '"':
		return []Item{{Text: raw}}, nil
	case raw[0] == '{':
		it, err := readItem(raw, "input")
		return []Item{it}, err
	case raw[0] != '[':
		return nil, fault.New(fault.InvalidParameter, "input must be a string or a list of strings").WithParam("input")
	}
	var list []Item
	for val := range jsonedit.Elements(raw) {
		it, err := readItem(val, "input["+strconv.Itoa(len(list))+"]")
		if err != nil {
			return nil, err
		}
		list = append(list, it)
	}
	return list, nil
}

func readItem(raw []byte, path string) (Item, error) {
	if raw[0] == '"' {
		return Item{Text: raw}, nil
	}
	var it Item
	if text, ok := jsonedit.Find(raw, "text"); ok && text[0] == '"' {
		it.Text = text
	}
	it.Image, _ = jsonedit.Find(raw, "image")
	if it.Text == nil && it.Image == nil {
		return it, fault.Newf(fault.InvalidParameter, "%s must be a string: this provider does not support tokens", path).WithParam(path)
	}
	return it, nil
}

// ReadTexts is ReadItems for providers that embed only texts. It returns raw strings.
func ReadTexts(t *llm.FieldTracker) ([][]byte, error) {
	items, err := ReadItems(t)
	if err != nil {
		return nil, err
	}
	texts := make([][]byte, len(items))
	for i, it := range items {
		if it.Image != nil {
			path := "input[" + strconv.Itoa(i) + "].image"
			return nil, fault.Newf(fault.InvalidParameter, "%s: this provider does not support image embeddings", path).WithParam(path)
		}
		texts[i] = it.Text
	}
	return texts, nil
}

// EncodeTexts encodes a request to /embeddings as {"texts":["a","b"]}, with the list under
// name and the other parameters of the provider. The response is converted to base64 on request.
func EncodeTexts(r *dialect.Request, name string, params ...fields.Rename) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	texts, err := ReadTexts(t)
	if err != nil {
		return nil, err
	}
	WantsBase64(t) // consumed, because the provider does not receive it
	var w jsonwriter.Writer
	w.Open('{')
	w.Key(name).Open('[')
	for _, text := range texts {
		w.Value(text)
	}
	w.Close(']')
	fields.WriteParams(&w, t, params)
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// Result is a response to /embeddings in OpenAI's shape.
// Source: https://platform.openai.com/docs/api-reference/embeddings, read 2026-11.
type Result struct {
	Model   string
	Vectors [][]byte // raw JSON in the order of the input: lists of numbers, or base64 in quotes
	Base64  bool     // the caller requested encoding_format "base64": numbers are converted
	Usage   llm.Usage
}

// WantsBase64 reports whether a request asks for its vectors in base64, as OpenAI's own
// clients do by default. It consumes encoding_format, which the gateway handles.
func WantsBase64(t *llm.FieldTracker) bool {
	raw, _ := t.Consume("encoding_format")
	return string(raw) == `"base64"`
}

// BuildResponse writes the response. A vector that is not a list of numbers is fault.UpstreamInvalid.
func (e *Result) BuildResponse() (*dialect.Response, error) {
	var w jsonwriter.Writer
	w.OpenList()
	for i, v := range e.Vectors {
		if e.Base64 && len(v) > 0 && v[0] == '[' {
			var err error
			if v, err = encodeFloat32s(v); err != nil {
				return nil, err
			}
		}
		if len(v) == 0 || v[0] != '[' && v[0] != '"' {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has an embedding that is not a list of numbers")
		}
		w.Open('{')
		w.Str("object", "embedding")
		w.Int("index", int64(i))
		w.Raw("embedding", v)
		w.Close('}')
	}
	w.Close(']')
	w.Str("model", e.Model)
	w.Key("usage").Open('{')
	w.Int("prompt_tokens", e.Usage.InputTokens)
	w.Int("total_tokens", e.Usage.TotalTokens)
	w.Close('}')
	w.Close('}')
	return &dialect.Response{Body: w.B, Usage: e.Usage, Model: e.Model}, nil
}

// encodeFloat32s encodes a vector as OpenAI does for base64: its numbers as 32-bit floats,
// little-endian.
func encodeFloat32s(vector []byte) ([]byte, error) {
	var floats []byte
	for n := range jsonedit.Elements(vector) {
		f, err := strconv.ParseFloat(string(n), 32)
		if err != nil {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has an embedding that is not a list of numbers").WithCause(err)
		}
		floats = binary.LittleEndian.AppendUint32(floats, math.Float32bits(float32(f)))
	}
	return append(base64.StdEncoding.AppendEncode([]byte{'"'}, floats), '"'), nil
}

// InBase64 converts a response to /embeddings to base64 vectors, for callers that requested
// base64 but received lists of numbers. OpenAI's client always requests base64, many servers
// ignore the parameter, and the client still decodes the response as base64. Any other body is
// returned unchanged.
// Source: https://github.com/openai/openai-node/issues/1646;
// https://github.com/Mintplex-Labs/anything-llm/issues/5794, of 2026-06-10.
func InBase64(body []byte) []byte {
	list, _ := jsonedit.Find(body, "data")
	var w jsonwriter.Writer
	w.Open('[')
	changed := false
	for row := range jsonedit.Elements(list) {
		w.Open('{')
		for name, val := range jsonedit.Members(row) {
			n, _ := jsonedit.Unquote(name)
			if n == "embedding" && len(val) > 0 && val[0] == '[' {
				if text, err := encodeFloat32s(val); err == nil {
					val, changed = text, true
				}
			}
			w.Named(n, val)
		}
		w.Close('}')
	}
	w.Close(']')
	var d jsonedit.Doc
	if !changed || jsonedit.Scan(body, &d) != nil {
		return body
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Set("data", w.B)})
}
