package fireworks

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// datasets are files: looked at, listed and deleted.
// Source: https://docs.fireworks.ai/api-reference/get-dataset, read 2026-11;
// contract/provider-transforms.md 7.18 and 12.
type datasets struct{}

var _ dialect.Unified = datasets{}

// EncodeRequest says no more than the address, but of lists which page is wanted.
func (datasets) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	if r.Endpoint != llm.ListFiles {
		return &dialect.Outgoing{}, nil
	}
	return page(r)
}

// page names the page of a list in the provider's words: after is the next_page_token of
// the page before.
func page(r *dialect.Request) (*dialect.Outgoing, error) {
	asked, err := url.ParseQuery(r.Query)
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "the query cannot be read").Because(err)
	}
	const usual = "50"
	q := "pageSize=" + url.QueryEscape(cmp.Or(asked.Get("limit"), usual))
	if after := asked.Get("after"); after != "" {
		q += "&pageToken=" + url.QueryEscape(after)
	}
	out := &dialect.Outgoing{Query: q}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if name != "limit" && name != "after" {
			out.Lost = append(out.Lost, name)
		}
	}
	return out, nil
}

// DecodeAnswer reads a dataset, {"datasets":[…]} or, of what was deleted, {}.
func (datasets) DecodeAnswer(in *dialect.Incoming) (*dialect.Answer, error) {
	var w dialect.JSON
	switch in.Sent.Endpoint {
	case llm.DeleteFile:
		w.Open('{')
		w.Str("id", in.Sent.ID)
		w.Str("object", "file")
		w.Bool("deleted", true)
		w.Close('}')
	case llm.ListFiles:
		writeList(&w, in.Body, "datasets", writeFile)
	default:
		if splice.Text(in.Body, "name") == "" {
			return nil, fault.New(fault.UpstreamInvalid, "the provider's answer is no dataset")
		}
		writeFile(&w, in.Body)
	}
	return &dialect.Answer{Body: w.B}, nil
}

// writeList writes a page of a list, with the token of the next one.
func writeList(w *dialect.JSON, body []byte, name string, each func(*dialect.JSON, []byte)) {
	list, _ := splice.Find(body, name)
	next := splice.Text(body, "nextPageToken")
	w.Open('{')
	w.Str("object", "list")
	w.Key("data").Open('[')
	for raw := range splice.Elements(list) {
		each(w, raw)
	}
	w.Close(']')
	w.Bool("has_more", next != "")
	w.Opt("next_page_token", next)
	w.Close('}')
}

// writeFile writes a dataset as a file. How many bytes it has nobody tells.
func writeFile(w *dialect.JSON, raw []byte) {
	id := lastPart(splice.Text(raw, "name"))
	status, details := "uploaded", trouble(raw)
	switch {
	case details != "":
		status = "error"
	case splice.Text(raw, "state") == "READY":
		status = "processed"
	}
	w.Open('{')
	w.Str("id", id)
	w.Str("object", "file")
	w.Int("bytes", 0)
	w.Int("created_at", seconds(splice.Text(raw, "createTime")))
	w.Str("filename", cmp.Or(splice.Text(raw, "displayName"), id))
	w.Str("purpose", "fine-tune")
	w.Str("status", status)
	w.Opt("status_details", details)
	w.Close('}')
}
