package fireworks

import (
	"cmp"
	"context"
	"net/url"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// upload creates a dataset from a file in four requests: create the dataset, get an upload address,
// upload the bytes, and validate the upload.
// Source: https://docs.fireworks.ai/api-reference/create-dataset,
// https://docs.fireworks.ai/api-reference/get-dataset-upload-endpoint and
// https://docs.fireworks.ai/api-reference/validate-dataset-upload, read 2026-11;
// contract/provider-transforms.md 7.18.
type upload struct{}

var _ dialect.MultiStep = upload{}

// rows is the name of the only file in a dataset.
const rows = "rows.jsonl"

// EncodeRequest creates the dataset, with a new id.
func (upload) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	file, err := fileOf(r)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("datasetId", "file-"+ident.NewID())
	w.Key("dataset").Open('{')
	w.Opt("displayName", file.Name)
	w.Key("userUploaded").Open('{')
	w.Close('}')
	w.Close('}')
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Header: wire.Header{{Name: "content-type", Value: "application/json"}}, Dropped: file.Dropped}, nil
}

func fileOf(r *dialect.Request) (*uploads.Upload, error) {
	u, err := uploads.Read(r)
	if err == nil && u.File.Len == 0 {
		err = fault.New(fault.InvalidParameter, "file must not be empty").WithParam("file")
	}
	return u, err
}

// Follow sends the three requests that follow the first.
func (upload) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	id := lastPart(jsonedit.Text(incoming.Body, "name"))
	file, err := fileOf(incoming.Sent)
	switch {
	case err != nil:
		return dialect.Next{}, false, err
	case id == "":
		return dialect.Next{}, false, fault.New(fault.UpstreamInvalid, "the provider response is not a dataset")
	}
	next := dialect.Next{Endpoint: llm.RetrieveFile, ID: id, Method: "POST"}
	path := "/datasets/" + url.PathEscape(id)
	switch len(incoming.More) {
	case 0:
		next.Path = path + ":getUploadEndpoint"
		next.Body = wire.Bytes([]byte(`{"filenameToSize":{"` + rows + `":"` + strconv.FormatInt(file.File.Len, 10) + `"}}`))
	case 1:
		address, _ := jsonedit.Find(incoming.More[0], "filenameToSignedUrls", rows)
		if next.URL, _ = jsonedit.Unquote(address); next.URL == "" {
			return next, false, fault.New(fault.UpstreamInvalid, "the provider response does not contain an upload address for the file")
		}
		size := strconv.FormatInt(file.File.Len, 10)
		next.Method, next.Body = "PUT", file.Content()
		next.Header = wire.Header{{Name: "content-type", Value: "application/octet-stream"}, {Name: "x-goog-content-length-range", Value: size + "," + size}}
	case 2:
		next.Path, next.Body = path+":validateUpload", wire.Bytes([]byte("{}"))
	default:
		return next, false, nil
	}
	return next, true, nil
}

// TranslateResponse describes the file with the name that the caller chose.
func (upload) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	file, err := fileOf(incoming.Sent)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", lastPart(jsonedit.Text(incoming.Body, "name")))
	w.Str("object", "file")
	w.Int("bytes", file.File.Len)
	w.Int("created_at", incoming.Created)
	w.Str("filename", file.Name)
	w.Str("purpose", cmp.Or(file.Purpose, "fine-tune"))
	w.Str("status", "processed")
	w.Close('}')
	return &dialect.Response{Body: w.B}, nil
}
