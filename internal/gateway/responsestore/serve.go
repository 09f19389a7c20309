package responsestore

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Serves reports whether a call is for a response that the gateway created, as its id shows.
// Providers serve all others.
func (s *Store) Serves(m llm.Match) bool {
	switch m.Endpoint {
	case llm.GetModelResponse, llm.DeleteModelResponse, llm.ListResponseInputItems:
		return s != nil && responses.IsID(m.ID)
	default:
		return false
	}
}

// Respond returns the body of the response. The error is fault.NotFound when the workspace
// does not have the stored response, and fault.InvalidParameter for an unsupported query.
// Source: https://platform.openai.com/docs/api-reference/responses/get, read 2026-11.
func (s *Store) Respond(ctx context.Context, workspace string, m llm.Match, query string) ([]byte, error) {
	id, err := url.PathUnescape(m.ID)
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "the path is not valid URL encoding")
	}
	if m.Endpoint == llm.DeleteModelResponse {
		return s.respondDeleted(ctx, workspace, id)
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "the query is not valid URL encoding")
	}
	if q.Get("stream") == "true" {
		return nil, fault.New(fault.InvalidParameter, "stream is not supported for stored responses; read the response without stream").WithParam("stream")
	}
	input, response, err := s.find(ctx, workspace, id)
	if err != nil {
		return nil, named404(err, id)
	}
	if m.Endpoint == llm.GetModelResponse {
		return response, nil
	}
	return page(input, q)
}

// respondDeleted deletes a response and returns the body that confirms it.
func (s *Store) respondDeleted(ctx context.Context, workspace, id string) ([]byte, error) {
	if err := s.remove(ctx, workspace, id); err != nil {
		return nil, named404(err, id)
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", id)
	w.Str("object", "response")
	w.Bool("deleted", true)
	w.Close('}')
	return w.B, nil
}

func named404(err error, id string) error {
	if fault.Has(err, fault.NotFound) {
		return fault.Newf(fault.NotFound, "unknown response %q in this workspace", fault.Clip(id))
	}
	return err
}

// Numbers of items in one page of input items.
const (
	itemsDefault = 20
	itemsMax     = 100
)

// page returns one page of a list of items: the newest first unless order is asc, starting after
// the item named by after, with at most limit items.
// Source: https://platform.openai.com/docs/api-reference/responses/input-items, read 2026-11.
func page(list []byte, q url.Values) ([]byte, error) {
	limit := itemsDefault
	if s := q.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > itemsMax {
			return nil, fault.Newf(fault.InvalidParameter, "limit must be an integer between 1 and %d", itemsMax).WithParam("limit")
		}
		limit = n
	}
	items := slices.Collect(jsonedit.Elements(list))
	switch order := q.Get("order"); order {
	case "asc":
	case "", "desc":
		slices.Reverse(items)
	default:
		return nil, fault.New(fault.InvalidParameter, `order must be "asc" or "desc"`).WithParam("order")
	}
	if after := q.Get("after"); after != "" {
		i := slices.IndexFunc(items, func(item []byte) bool { return jsonedit.Text(item, "id") == after })
		if i < 0 {
			return nil, fault.Newf(fault.InvalidParameter, "after: unknown item %q", fault.Clip(after)).WithParam("after")
		}
		items = items[i+1:]
	}
	more := len(items) > limit
	return writePage(items[:min(limit, len(items))], more), nil
}

func writePage(items [][]byte, more bool) []byte {
	var w jsonwriter.Writer
	w.OpenList()
	for _, item := range items {
		w.Value(item)
	}
	var first, last string
	if len(items) > 0 {
		first, last = jsonedit.Text(items[0], "id"), jsonedit.Text(items[len(items)-1], "id")
	}
	w.ClosePage(first, last, more)
	w.Close('}')
	return w.B
}
