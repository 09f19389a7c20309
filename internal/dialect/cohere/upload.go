package cohere

import (
	"context"
	"errors"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/wire"
)

// upload creates a dataset from a file with the lines of a batch.
// Source: https://docs.cohere.com/reference/create-dataset, read 2026-11;
// contract/provider-transforms.md 6.4.
type upload struct{}

var _ dialect.OpenAIEndpoint = upload{}

// EncodeRequest converts the lines of the caller's file to the rows of a dataset. It reuses the
// boundary of the caller's form, which cannot occur in rows built from the caller's lines.
func (upload) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	u, err := uploads.Read(r)
	if err != nil {
		return nil, err
	}
	body := r.NewSpool()
	form := multipart.NewWriter(body)
	if _, params, err := mime.ParseMediaType(r.ContentType); err != nil || form.SetBoundary(params["boundary"]) != nil {
		return nil, fault.New(fault.InvalidRequest, "the form has an invalid boundary").WithCause(err)
	}
	rows, err := form.CreateFormFile("data", "rows.jsonl")
	if err != nil {
		return nil, err
	}
	if err := u.Rewrite(rows, rowOf); err != nil {
		return nil, err
	}
	if err := form.Close(); err != nil {
		return nil, err
	}
	query := "name=" + url.QueryEscape(strings.TrimSuffix(u.Name, ".jsonl")+"-"+ident.NewID())
	head := wire.Header{{Name: "content-type", Value: form.FormDataContentType()}}
	return &dialect.Outgoing{Large: body.Payload(), Header: head, Query: query, Dropped: u.Dropped}, nil
}

// rowOf converts a line of a batch, {"custom_id":"1","body":{"input":"…"}}, to a row:
// {"custom_id":"1","text":"…","id":"0191…"}. It also accepts rows in Cohere's format, with a text.
func rowOf(dst, line []byte) ([]byte, error) {
	text, ok := jsonedit.Find(line, "body", "input")
	if !ok {
		text, ok = jsonedit.Find(line, "text")
	}
	if ok && text[0] == '[' {
		text, ok = only(text)
	}
	if !ok || text[0] != '"' {
		return dst, errors.New("must have a body.input with one string")
	}
	w := jsonwriter.AppendTo(dst)
	w.Open('{')
	id, _ := jsonedit.Find(line, "custom_id")
	w.Raw("custom_id", id)
	w.Raw("text", text)
	w.Str("id", ident.NewID())
	w.Close('}')
	return w.B, nil
}

// only returns the element of a list of one; ok is false for all other lists.
func only(list []byte) (val []byte, ok bool) {
	n := 0
	for v := range jsonedit.Elements(list) {
		val = v
		n++
	}
	return val, n == 1
}

// TranslateResponse reads {"id":…}. The name and the purpose of the file come from the request.
func (upload) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	f := file{id: jsonedit.Text(incoming.Body, "id"), created: incoming.Created, status: "uploaded"}
	if f.id == "" {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response does not contain a dataset id")
	}
	u, err := uploads.Read(incoming.Sent)
	if err != nil {
		return nil, err
	}
	f.name, f.purpose, f.bytes = u.Name, u.Purpose, u.File.Len
	var w jsonwriter.Writer
	f.write(&w)
	return &dialect.Response{Body: w.B}, nil
}
