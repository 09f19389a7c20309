package cohere

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/pagination"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// jobs implements embed jobs, which are Cohere's batches.
// Source: https://docs.cohere.com/reference/get-embed-job, read 2026-11;
// contract/provider-transforms.md 6.4 and 12.
type jobs struct{}

// createJob creates an embed job.
// Source: https://docs.cohere.com/reference/create-embed-job, read 2026-11.
type createJob struct{}

var (
	_ dialect.MultiStep      = jobs{}
	_ dialect.OpenAIEndpoint = createJob{}
)

// batchEndpoint is the only endpoint for which Cohere supports batches.
const batchEndpoint = "/v1/embeddings"

// EncodeRequest builds a request to /v1/embed-jobs.
func (createJob) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	id, ok := t.First("input_file_id", "dataset_id")
	switch {
	case !ok:
		return nil, fault.New(fault.InvalidParameter, "input_file_id is required; send it in the request body").WithParam("input_file_id")
	case to.Model == "":
		return nil, fault.New(fault.InvalidParameter, "model is required; send it in the request body").WithParam("model")
	}
	if raw, ok := t.Consume("endpoint"); ok && string(raw) != `"`+batchEndpoint+`"` {
		return nil, fault.New(fault.InvalidParameter, "endpoint must be "+batchEndpoint+"; this provider does not support other batches").WithParam("endpoint")
	}
	if raw, _ := t.Peek("completion_window"); string(raw) == `"24h"` {
		t.Consume("completion_window") // every batch reports 24h, so the field is not dropped
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model", to.Model)
	w.Raw("dataset_id", id)
	if raw, ok := t.Consume("input_type"); ok {
		w.Raw("input_type", raw)
	} else {
		w.Str("input_type", "search_document")
	}
	if raw, ok := t.First("name", "job_name"); ok {
		w.Raw("name", raw)
	}
	if raw, ok := t.Consume("embedding_types"); ok {
		w.List("embedding_types", raw)
	}
	fields.WriteParams(&w, t, []fields.Rename{{Path: "truncate", To: "truncate"}})
	options, _ := t.Consume("provider_options")
	for name, val := range jsonedit.Members(options) {
		key, _ := jsonedit.Unquote(name)
		if _, found := jsonedit.Find(append(w.B[:len(w.B):len(w.B)], '}'), key); !found {
			w.Raw(key, val)
		}
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"job_id":…}, the only member that Cohere returns for a new job.
func (createJob) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	b := batch{id: jsonedit.Text(incoming.Body, "job_id"), status: "validating", input: jsonedit.Text(incoming.Sent.Body, "input_file_id"), model: incoming.To.Model, created: incoming.Created}
	if b.id == "" {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response does not contain a job id")
	}
	var w jsonwriter.Writer
	b.write(&w)
	return &dialect.Response{Body: w.B}, nil
}

// jobPages is the pagination of the embed jobs. Cohere returns all of them in embed_jobs. Its client
// has no parameters for that list.
// Source: github.com/cohere-ai/cohere-go/v2 v2.15.3, embedjobs and ListEmbedJobResponse.
var jobPages = &pagination.Pages{
	Items: "embed_jobs", Usual: 20, MaxLimit: 100, IsID: anyID, // OpenAI's page sizes
	Write: func(w *jsonwriter.Writer, raw []byte) { readBatch(raw).write(w) },
}

func anyID(string) bool { return true }

// EncodeRequest sets only the query that selects a page of a list. For other endpoints the address
// is the complete request.
func (jobs) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	if r.Endpoint == llm.ListBatches {
		return jobPages.EncodeRequest(r.Query)
	}
	return &dialect.Outgoing{Dropped: unknown(r.Query)}, nil
}

// Follow finds the page that the caller requests.
func (jobs) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if incoming.Sent.Endpoint != llm.ListBatches {
		return dialect.Next{}, false, nil
	}
	return jobPages.Follow(incoming)
}

// TranslateResponse reads a job or {"embed_jobs":[…]}. It does not read the response to a
// cancellation.
func (jobs) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	var w jsonwriter.Writer
	switch incoming.Sent.Endpoint {
	case llm.CancelBatch:
		w.Open('{')
		w.Str("status", "success")
		w.Str("object", "batch")
		w.Str("id", incoming.Sent.ID)
		w.Close('}')
	case llm.ListBatches:
		return jobPages.BuildResponse(incoming)
	default:
		b := readBatch(incoming.Body)
		if b.id == "" {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response does not contain a job id")
		}
		b.write(&w)
	}
	return &dialect.Response{Body: w.B}, nil
}

// batch is a batch in OpenAI's format.
type batch struct {
	id, status, input, output, model string
	created                          int64
}

// batchStatus maps the states of a job. readBatch returns an unknown state unchanged.
var batchStatus = map[string]string{"processing": "in_progress", "complete": "completed"}

func readBatch(raw []byte) *batch {
	b := &batch{
		id: jsonedit.Text(raw, "job_id"), status: jsonedit.Text(raw, "status"), input: jsonedit.Text(raw, "input_dataset_id"),
		output: jsonedit.Text(raw, "output_dataset_id"), model: jsonedit.Text(raw, "model"), created: seconds(jsonedit.Text(raw, "created_at")),
	}
	if s, ok := batchStatus[b.status]; ok {
		b.status = s
	}
	return b
}

func (b *batch) write(w *jsonwriter.Writer) {
	w.Open('{')
	w.Str("id", b.id)
	w.Str("object", "batch")
	w.Str("endpoint", batchEndpoint)
	w.Opt("model", b.model)
	w.Str("input_file_id", b.input)
	w.Str("completion_window", "24h")
	w.Str("status", b.status)
	if b.output != "" {
		w.Str("output_file_id", b.output)
	} else {
		w.Raw("output_file_id", []byte("null"))
	}
	w.Int("created_at", b.created)
	w.Close('}')
}
