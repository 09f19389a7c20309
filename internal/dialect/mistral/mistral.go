// Package mistral translates the list of files for Mistral AI, which has numbered pages.
// Its other endpoints use OpenAI's shape. Start reading at Dialect.
package mistral

import (
	"context"
	"net/url"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/pagination"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "mistral".
// Source: https://docs.mistral.ai/api/endpoint/files, read 2026-11.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "mistral", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.ListFiles: files{}}}
}

// files is the list of files. Mistral takes page, page_size and filters, and returns data
// and total. Callers continue after the last item that they have, as OpenAI's clients do.
// A caller that sends page or page_size gets Mistral's own list.
type files struct{}

var _ dialect.MultiStep = files{}

// filePages are the numbered pages. Mistral documents a default length but no maximum. A
// page number is valid only if the pages have the requested length.
var filePages = &pagination.Pages{
	Items: "data", Size: "page_size", After: "page", Total: "total", Usual: 100, MaxLimit: 100, ItemsRequired: true, ForwardUnknownParams: true,
	IsID:  func(after string) bool { return !isNumber(after) },
	Write: func(w *jsonwriter.Writer, raw []byte) { w.Value(raw) },
}

func isNumber(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return len(text) < 10 // longer values are ids
}

// isNative reports whether the query is that of Mistral's own client.
func isNative(query string) bool {
	q, err := url.ParseQuery(query)
	return err == nil && (q.Has("page") || q.Has("page_size")) && !q.Has("limit") && !q.Has("after")
}

// EncodeRequest requests the first page that can contain the requested items.
func (files) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	if isNative(r.Query) {
		return &dialect.Outgoing{Query: r.Query}, nil
	}
	return filePages.EncodeRequest(r.Query)
}

// Follow finds the page that contains the item to continue after.
func (files) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if isNative(incoming.Sent.Query) {
		return dialect.Next{}, false, nil
	}
	return filePages.Follow(incoming)
}

// TranslateResponse reads {"data":[…],"object":"list","total":2}; the files are in OpenAI's shape.
func (files) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	if !isNative(incoming.Sent.Query) {
		return filePages.BuildResponse(incoming)
	}
	if _, found := jsonedit.Find(incoming.Body, "data"); !found || !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no list of files")
	}
	return &dialect.Response{Body: incoming.Body}, nil
}
