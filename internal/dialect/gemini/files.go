package gemini

import (
	"cmp"
	"context"
	"path"
	"strconv"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// files implements objects in Google Cloud Storage, where Vertex AI reads batches and examples.
// Source: https://cloud.google.com/storage/docs/xml-api/reference-methods, read 2026-11;
// contract/provider-transforms.md 4.10, section 12.
type files struct{}

var _ dialect.FileStreamer = files{}

// EncodeRequest requests an object or its metadata.
func (files) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	o, err := fileID(r.ID, "file_id")
	if err != nil {
		return nil, err
	}
	return &dialect.Outgoing{Path: o.path()}, nil
}

// FileType reports that the content of an object is returned unchanged.
func (files) FileType(ep llm.Endpoint) (string, bool) {
	return "application/octet-stream", ep == llm.RetrieveFileContent
}

// TranslateResponse describes the object from the response headers.
func (files) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	o, ok := readObject(incoming.Sent.ID)
	if !ok {
		return nil, fault.New(fault.Internal, "")
	}
	size, err := strconv.ParseInt(cmp.Or(incoming.Header.Get("x-goog-stored-content-length"), incoming.Header.Get("content-length")), 10, 64)
	if err != nil {
		return nil, fault.New(fault.UpstreamInvalid, "the provider does not report the file size").WithCause(err)
	}
	f := file{object: o, bytes: size, created: lastModified(incoming.Header, incoming.Created)}
	return f.response(), nil
}

// lastModified returns the time in the last-modified header, or now without a valid one, in epoch
// seconds.
func lastModified(h wire.Header, now int64) int64 {
	if modified, err := time.Parse(time.RFC1123, h.Get("last-modified")); err == nil {
		return modified.Unix()
	}
	return now
}

// file is a file in OpenAI's format.
type file struct {
	object
	purpose string
	bytes   int64
	created int64 // epoch seconds
}

func (f *file) response() *dialect.Response {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", f.id())
	w.Str("object", "file")
	w.Int("bytes", f.bytes)
	w.Int("created_at", f.created)
	w.Str("filename", path.Base(f.name))
	optional(&w, "purpose", f.purpose)
	w.Str("status", "processed")
	w.Close('}')
	return &dialect.Response{Body: w.B}
}
