package anthropic

import (
	"cmp"
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/uploads"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
)

// upload uploads a file to the provider. The purpose is not sent, because Anthropic does not
// have such a field.
// Source: https://platform.claude.com/docs/en/api/files-create, read 2026-11;
// contract/provider-transforms.md 2.8.
type upload struct{}

// files implements retrieval, listing and deletion of file descriptions.
type files struct{}

// content implements the download of a file.
type content struct{ dialect.PassthroughCodec }

var (
	_ dialect.OpenAIEndpoint = upload{}
	_ dialect.OpenAIEndpoint = files{}
	_ dialect.FileStreamer   = content{}
)

// EncodeRequest sends the form with the file only, and does not copy the bytes of the file.
func (upload) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	u, err := uploads.Read(r)
	if err != nil {
		return nil, err
	}
	others := []multipartedit.Edit{multipartedit.Drop("purpose")}
	for _, name := range u.Dropped {
		others = append(others, multipartedit.Drop(name))
	}
	body, err := r.Form.Edit(others)
	if err != nil {
		return nil, err
	}
	head := append(betaHeader(to, []string{filesBeta}), wire.Field{Name: "content-type", Value: r.ContentType})
	return &dialect.Outgoing{Large: body, Header: head, Dropped: u.Dropped}, nil
}

// TranslateResponse reads the description of the new file.
func (upload) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	u, err := uploads.Read(incoming.Sent)
	if err != nil {
		return nil, err
	}
	return describe(incoming, u.Purpose)
}

// EncodeRequest sets only the beta header and the query that selects a page of the list.
func (files) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	out := &dialect.Outgoing{Header: betaHeader(to, []string{filesBeta})}
	if r.Endpoint == llm.ListFiles {
		out.Query, out.Dropped = page(r.Query)
	}
	return out, nil
}

// TranslateResponse reads a file description, a list of them, or the response to a deletion.
func (files) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	switch incoming.Sent.Endpoint {
	case llm.DeleteFile:
		return uploads.Deleted(cmp.Or(jsonedit.Text(incoming.Body, "id"), incoming.Sent.ID)), nil
	case llm.ListFiles:
		if !jsonedit.Valid(incoming.Body) {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a list of files")
		}
		var w jsonwriter.Writer
		writeList(&w, incoming.Body, func(raw []byte) { writeFile(&w, raw, "") })
		return &dialect.Response{Body: w.B}, nil
	default:
		return describe(incoming, "")
	}
}

func describe(incoming *dialect.Incoming, purpose string) (*dialect.Response, error) {
	if jsonedit.Text(incoming.Body, "id") == "" || !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response does not describe a file")
	}
	var w jsonwriter.Writer
	writeFile(&w, incoming.Body, purpose)
	return &dialect.Response{Body: w.B}, nil
}

// writeFile writes a file description in OpenAI's format. An empty purpose becomes "user_data",
// because Anthropic stores files for any use in requests.
// Source: contract/provider-transforms.md 12.
func writeFile(w *jsonwriter.Writer, raw []byte, purpose string) {
	size, _ := usage.Count(found(raw, "size_bytes"))
	w.Open('{')
	w.Str("id", jsonedit.Text(raw, "id"))
	w.Str("object", "file")
	w.Int("bytes", size)
	w.Int("created_at", epoch(raw, "created_at"))
	w.Str("filename", jsonedit.Text(raw, "filename"))
	w.Str("purpose", cmp.Or(purpose, "user_data"))
	w.Str("status", "processed")
	w.Opt("mime_type", jsonedit.Text(raw, "mime_type"))
	w.Close('}')
}

// EncodeRequest sets only the beta header: the address identifies the file.
func (content) EncodeRequest(_ context.Context, _ *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{Header: betaHeader(to, []string{filesBeta})}, nil
}
