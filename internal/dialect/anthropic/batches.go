package anthropic

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// createBatch creates a batch. The call contains the batch's requests, each with params in the
// format of messages.
// Source: https://platform.claude.com/docs/en/api/messages/batches/create, read 2026-11;
// contract/provider-transforms.md 2.8.
type createBatch struct{ batches }

// batches implements retrieval, listing and cancellation of message batches.
type batches struct{}

// output is the result file of a batch that has ended: one line for each request, as the
// provider wrote it.
type output struct{ dialect.PassthroughCodec }

var (
	_ dialect.OpenAIEndpoint = createBatch{}
	_ dialect.OpenAIEndpoint = batches{}
	_ dialect.FileStreamer   = output{}
)

// EncodeRequest builds a request that creates a batch.
func (createBatch) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	requests, ok := t.Consume("requests")
	if !ok || !isList(requests) {
		return nil, fields.Invalid("requests", `is required: this provider does not read batch requests from a file; send them in the call, [{"custom_id":"1","params":{…}}]`)
	}
	if raw, _ := t.Peek("completion_window"); string(raw) == `"24h"` {
		t.Consume("completion_window") // Anthropic's batches take at most 24 hours
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Raw("requests", requests)
	options, _ := t.Consume("provider_options")
	for key, val := range jsonedit.Members(options) {
		if name := plainName(key); name != "requests" {
			w.Named(name, val)
		}
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// EncodeRequest sets only the query that selects a page of the list.
func (batches) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	out := &dialect.Outgoing{}
	if r.Endpoint == llm.ListBatches {
		out.Query, out.Dropped = page(r.Query)
	}
	return out, nil
}

// TranslateResponse reads a batch or a list of batches.
func (batches) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	var w jsonwriter.Writer
	if incoming.Sent.Endpoint == llm.ListBatches {
		if !jsonedit.Valid(incoming.Body) {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a list of batches")
		}
		writeList(&w, incoming.Body, func(raw []byte) { writeBatch(&w, raw) })
		return &dialect.Response{Body: w.B}, nil
	}
	if jsonedit.Text(incoming.Body, "id") == "" || !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a batch")
	}
	writeBatch(&w, incoming.Body)
	return &dialect.Response{Body: w.B}, nil
}

// writeBatch writes a batch in OpenAI's format.
// Source: contract/provider-transforms.md 2.8 and 12.
func writeBatch(w *jsonwriter.Writer, raw []byte) {
	counts := found(raw, "request_counts")
	status := batchStatus(jsonedit.Text(raw, "processing_status"), counts)
	ended := func(state string) int64 {
		if status != state {
			return 0
		}
		return epoch(raw, "ended_at")
	}
	w.Open('{')
	w.Str("id", jsonedit.Text(raw, "id"))
	w.Str("object", "batch")
	w.Str("endpoint", "/v1/batches")
	w.Raw("errors", null)
	w.Raw("input_file_id", null)
	w.Str("completion_window", "24h")
	w.Str("status", status)
	w.Raw("output_file_id", null)
	w.Raw("error_file_id", null)
	w.Int("created_at", epoch(raw, "created_at"))
	writeEpoch(w, "expires_at", epoch(raw, "expires_at"))
	writeEpoch(w, "completed_at", ended("completed"))
	writeEpoch(w, "expired_at", ended("expired"))
	writeEpoch(w, "cancelling_at", epoch(raw, "cancel_initiated_at"))
	writeEpoch(w, "cancelled_at", ended("cancelled"))
	writeCounts(w, counts)
	w.Raw("metadata", null)
	w.Close('}')
}

func writeCounts(w *jsonwriter.Writer, counts []byte) {
	total := int64(0)
	for _, val := range jsonedit.Members(counts) {
		n, _ := usage.Count(val)
		total += n
	}
	w.Key("request_counts").Open('{')
	w.Int("total", total)
	w.Int("completed", countOf(counts, "succeeded"))
	w.Int("failed", countOf(counts, "errored"))
	w.Close('}')
}

func countOf(counts []byte, name string) int64 {
	n, _ := usage.Count(found(counts, name))
	return n
}

// batchStatus returns OpenAI's name for the state of a batch. The request counts determine how
// an ended batch ended. An unknown state is returned unchanged.
func batchStatus(status string, counts []byte) string {
	switch {
	case status == "canceling":
		return "cancelling"
	case status != "ended":
		return status
	case countOf(counts, "canceled") > 0:
		return "cancelled"
	case countOf(counts, "expired") > 0:
		return "expired"
	}
	return "completed"
}

// EncodeRequest returns an empty request: the address identifies the file.
func (output) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}
