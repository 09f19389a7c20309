package fireworks

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/pagination"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// datasets implements the description, listing and deletion of files, which are datasets.
// Source: https://docs.fireworks.ai/api-reference/get-dataset, read 2026-11;
// contract/provider-transforms.md 7.18 and 12.
type datasets struct{}

var _ dialect.MultiStep = datasets{}

// EncodeRequest sets only the query that selects a page of a list.
func (datasets) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	if r.Endpoint != llm.ListFiles {
		return &dialect.Outgoing{}, nil
	}
	return datasetsPages.EncodeRequest(r.Query)
}

// pages returns the pagination of a list in the given member. Ids contain lowercase letters, digits
// and dashes. Page tokens are base64 and contain other characters.
// Source: https://docs.fireworks.ai/api-reference/list-datasets, read 2026-11.
func pages(member string, write func(w *jsonwriter.Writer, raw []byte)) *pagination.Pages {
	return &pagination.Pages{
		Items: member, Token: "nextPageToken", Size: "pageSize", After: "pageToken", Usual: 50, MaxLimit: 200,
		IsID: func(after string) bool { return strings.Trim(after, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" }, Write: write,
	}
}

var datasetsPages = pages("datasets", writeFile)

// Follow requests the next page of a list.
func (datasets) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	return followPages(incoming, llm.ListFiles, datasetsPages)
}

// TranslateResponse reads a dataset or {"datasets":[…]}. It does not read the response to a
// deletion, {}.
func (datasets) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	switch incoming.Sent.Endpoint {
	case llm.DeleteFile:
		return uploads.Deleted(incoming.Sent.ID), nil
	case llm.ListFiles:
		return datasetsPages.BuildResponse(incoming)
	default:
		return fileResponse(incoming.Body)
	}
}

func fileResponse(body []byte) (*dialect.Response, error) {
	return recordResponse(body, "a dataset", writeFile)
}

// recordResponse returns one record of the provider, written by write. kind names the record in
// the error for another body: "a dataset".
func recordResponse(body []byte, kind string, write func(w *jsonwriter.Writer, raw []byte)) (*dialect.Response, error) {
	if jsonedit.Text(body, "name") == "" {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not "+kind)
	}
	var w jsonwriter.Writer
	write(&w, body)
	return &dialect.Response{Body: w.B}, nil
}

// followPages requests the next page of a list, and nothing for another endpoint.
func followPages(incoming *dialect.Incoming, list llm.Endpoint, p *pagination.Pages) (dialect.Next, bool, error) {
	if incoming.Sent.Endpoint != list {
		return dialect.Next{}, false, nil
	}
	return p.Follow(incoming)
}

// writeFile writes a dataset as a file. Its size is 0, because Fireworks does not report it.
func writeFile(w *jsonwriter.Writer, raw []byte) {
	id := lastPart(jsonedit.Text(raw, "name"))
	status, details := "uploaded", statusError(raw)
	switch {
	case details != "":
		status = "error"
	case jsonedit.Text(raw, "state") == "READY":
		status = "processed"
	}
	w.Open('{')
	w.Str("id", id)
	w.Str("object", "file")
	w.Int("bytes", 0)
	w.Int("created_at", seconds(jsonedit.Text(raw, "createTime")))
	w.Str("filename", cmp.Or(jsonedit.Text(raw, "displayName"), id))
	w.Str("purpose", "fine-tune")
	w.Str("status", status)
	w.Opt("status_details", details)
	w.Close('}')
}
