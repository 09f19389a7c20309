package cohere

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/splice"
	"sluice/internal/wire"
)

// upload makes a dataset of a file with the lines of a batch.
// Source: https://docs.cohere.com/reference/create-dataset, read 2026-11;
// contract/provider-transforms.md 6.4.
type upload struct{}

var _ dialect.Unified = upload{}

// EncodeRequest turns the lines of the caller's file into the rows of a dataset.
func (upload) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	boundary, err := boundaryOf(r)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.SetBoundary(boundary); err != nil { // what separates the caller's lines separates rows made of them
		return nil, fault.New(fault.InvalidRequest, "the form's boundary is broken").Because(err)
	}
	var lost []string
	name, err := eachField(r, func(p *multipart.Part) error {
		switch {
		case p.FormName() == "file":
			return writeRows(form, p)
		case p.FormName() != "purpose":
			lost = append(lost, p.FormName())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := form.Close(); err != nil {
		return nil, err
	}
	query := "name=" + url.QueryEscape(strings.TrimSuffix(name, ".jsonl")+"-"+ident.NewID())
	head := wire.Header{{Name: "content-type", Value: form.FormDataContentType()}}
	return &dialect.Outgoing{Body: body.Bytes(), Header: head, Query: query, Lost: lost}, nil
}

func boundaryOf(r *dialect.Request) (string, error) {
	_, params, err := mime.ParseMediaType(r.ContentType)
	if err != nil || params["boundary"] == "" {
		return "", fault.New(fault.InvalidRequest, "the body must be a multipart form").Because(err)
	}
	return params["boundary"], nil
}

// eachField walks the fields of the caller's form and returns the name of its file.
func eachField(r *dialect.Request, each func(p *multipart.Part) error) (name string, err error) {
	boundary, err := boundaryOf(r)
	if err != nil {
		return "", err
	}
	form := multipart.NewReader(r.Payload.Open(), boundary)
	found := false
	for {
		p, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fault.New(fault.InvalidRequest, "the multipart form is broken").Because(err)
		}
		if p.FormName() == "file" {
			found, name = true, p.FileName()
		}
		if err := each(p); err != nil {
			return "", err
		}
	}
	if !found {
		return "", fault.New(fault.InvalidParameter, "file is missing: send it in the form").At("file")
	}
	return name, nil
}

// writeRows writes the file of rows: {"custom_id":"1","text":"…","id":"0191…"}.
func writeRows(form *multipart.Writer, file io.Reader) error {
	to, err := form.CreateFormFile("data", "rows.jsonl")
	if err != nil {
		return err
	}
	lines := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 {
			row, bad := rowOf(text, n)
			if bad != nil {
				return bad
			}
			if _, err := to.Write(row); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.New(fault.InvalidRequest, "the multipart form is broken").Because(err)
		}
	}
}

// rowOf makes a row of a line of a batch, {"custom_id":"1","body":{"input":"…"}}. Rows
// in Cohere's own form, with a text, are taken too.
func rowOf(line []byte, n int) ([]byte, error) {
	if !splice.Valid(line) {
		return nil, fault.Newf(fault.InvalidParameter, "line %d of the file is not a JSON object", n).At("file")
	}
	text, ok := splice.Find(line, "body", "input")
	if !ok {
		text, ok = splice.Find(line, "text")
	}
	if ok && text[0] == '[' {
		text, ok = only(text)
	}
	if !ok || text[0] != '"' {
		return nil, fault.Newf(fault.InvalidParameter, "line %d of the file has no body.input that is one text", n).At("file")
	}
	var w dialect.JSON
	w.Open('{')
	id, _ := splice.Find(line, "custom_id")
	w.Raw("custom_id", id)
	w.Raw("text", text)
	w.Str("id", ident.NewID())
	w.Close('}')
	return append(w.B, '\n'), nil
}

// only is the element of a list of one.
func only(list []byte) (val []byte, ok bool) {
	n := 0
	for v := range splice.Elements(list) {
		val = v
		n++
	}
	return val, n == 1
}

// DecodeAnswer reads {"id":…}. What the file was called and for is known from the
// request.
func (upload) DecodeAnswer(in *dialect.Incoming) (*dialect.Answer, error) {
	f := file{id: splice.Text(in.Body, "id"), created: in.Created, status: "uploaded"}
	if f.id == "" {
		return nil, fault.New(fault.UpstreamInvalid, "the provider's answer has no id of the dataset")
	}
	var err error
	f.name, err = eachField(in.Sent, func(p *multipart.Part) error {
		switch p.FormName() {
		case "file":
			n, err := io.Copy(io.Discard, p)
			f.bytes = n
			return err
		case "purpose":
			text, err := io.ReadAll(io.LimitReader(p, 1<<10))
			f.purpose = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var w dialect.JSON
	f.write(&w)
	return &dialect.Answer{Body: w.B}, nil
}
