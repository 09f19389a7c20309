package cohere

import (
	"context"
	"strconv"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/pagination"
	"sluice/internal/dialect/uploads"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// files implements the description, listing and deletion of files, which are Cohere's datasets of
// type embed-input.
// Source: https://docs.cohere.com/reference/get-dataset, read 2026-11;
// contract/provider-transforms.md 6.4 and 12.
type files struct{}

var _ dialect.MultiStep = files{}

// filePages is the pagination of the datasets.
// Source: https://docs.cohere.com/v2/reference/list-datasets, read 2026-11, which names limit
// and offset and no bounds of them: the lengths are ours.
var filePages = &pagination.Pages{
	Items: "datasets", Size: "limit", After: "offset", Usual: 100, MaxLimit: 1000, IsID: isDataset,
	Write: func(w *jsonwriter.Writer, raw []byte) { readFile(raw).write(w) },
}

// isDataset reports whether after is the id of a dataset, which is not a number.
func isDataset(after string) bool {
	_, err := strconv.Atoi(after)
	return err != nil
}

// EncodeRequest sets only the query that selects a page of a list. For other endpoints the address
// is the complete request.
func (files) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	if r.Endpoint == llm.ListFiles {
		return filePages.EncodeRequest(r.Query)
	}
	return &dialect.Outgoing{Dropped: unknown(r.Query)}, nil
}

// Follow finds the page that the caller requests.
func (files) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if incoming.Sent.Endpoint != llm.ListFiles {
		return dialect.Next{}, false, nil
	}
	return filePages.Follow(incoming)
}

// unknown returns the names of all query fields, none of which Cohere supports.
func unknown(query string) (names []string) {
	for pair := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(pair, "="); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// TranslateResponse reads {"dataset":{…}} or {"datasets":[…]}. It does not read the response to a
// deletion, {}.
func (files) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	switch incoming.Sent.Endpoint {
	case llm.DeleteFile:
		return uploads.Deleted(incoming.Sent.ID), nil
	case llm.ListFiles:
		return filePages.BuildResponse(incoming)
	default:
		return fileResponse(incoming.Body)
	}
}

func fileResponse(body []byte) (*dialect.Response, error) {
	raw, ok := jsonedit.Find(body, "dataset")
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no dataset")
	}
	var w jsonwriter.Writer
	readFile(raw).write(&w)
	return &dialect.Response{Body: w.B}, nil
}

// file is a file in OpenAI's format.
type file struct {
	id, name, purpose, status, details string
	bytes, created                     int64
}

// fileStatus maps the states of a dataset; every other state is "uploaded".
var fileStatus = map[string]string{"validated": "processed", "failed": "error", "skipped": "error"}

func readFile(raw []byte) *file {
	f := &file{
		id: jsonedit.Text(raw, "id"), name: jsonedit.Text(raw, "name"), purpose: "batch", status: "uploaded",
		details: jsonedit.Text(raw, "validation_error"), created: seconds(jsonedit.Text(raw, "created_at")),
	}
	if s, ok := fileStatus[jsonedit.Text(raw, "validation_status")]; ok {
		f.status = s
	}
	parts, _ := jsonedit.Find(raw, "dataset_parts")
	for p := range jsonedit.Elements(parts) {
		size, _ := jsonedit.Find(p, "size_bytes")
		n, _ := usage.Count(size)
		f.bytes += n
	}
	return f
}

// seconds returns the epoch seconds of "2024-09-28T10:11:12.3Z"; 0 when text is not a time.
func seconds(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0
	}
	return t.Unix()
}

func (f *file) write(w *jsonwriter.Writer) {
	w.Open('{')
	w.Str("id", f.id)
	w.Str("object", "file")
	w.Int("bytes", f.bytes)
	w.Int("created_at", f.created)
	w.Str("filename", f.name)
	w.Str("purpose", f.purpose)
	w.Str("status", f.status)
	w.Opt("status_details", f.details)
	w.Close('}')
}
