package gemini

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// batches implements the batch endpoints with batch prediction jobs of Vertex AI.
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs,
// read 2026-11; contract/provider-transforms.md 4.10, section 12.
type batches struct{}

var _ dialect.MultiStep = batches{}

var batchesPages = pages("batchPredictionJobs", writeBatch)

// Follow requests the next page of a list.
func (batches) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if incoming.Sent.Endpoint != llm.ListBatches {
		return dialect.Next{}, false, nil
	}
	return batchesPages.Follow(incoming)
}

// EncodeRequest translates the caller's batch to a job. On other endpoints, except for lists, the
// URL contains the complete request.
func (batches) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	switch r.Endpoint {
	case llm.CreateBatch:
		return createBatch(r.Body, to)
	case llm.ListBatches:
		return batchesPages.EncodeRequest(r.Query)
	default:
		return &dialect.Outgoing{}, nil
	}
}

// taken contains the job members that the gateway sets. provider_options may set all others.
var taken = map[string]bool{"displayName": true, "model": true, "inputConfig": true, "outputConfig": true, "instanceConfig": true}

func createBatch(body []byte, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(body)
	t.Consume("endpoint")          // the upload already translated the lines of this endpoint
	t.Consume("completion_window") // Google's own window is also a day
	if to.Model == "" {
		return nil, fault.New(fault.InvalidParameter, "model is required: Vertex AI runs a batch on one model; send it in the request body").WithParam("model")
	}
	input, err := fileID(textOf(t, "input_file_id"), "input_file_id")
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	if more, ok := t.Consume("provider_options"); ok {
		for name, val := range jsonedit.Members(more) {
			if !taken[plainText(name)] { // plainText resolves escapes in the name
				w.Key(string(name[1 : len(name)-1])).Value(val)
			}
		}
	}
	w.Str("displayName", cmp.Or(textOf(t, "job_name"), ident.NewID()))
	w.Str("model", resource(to.Model))
	w.Key("inputConfig").Open('{')
	w.Str("instancesFormat", "jsonl")
	w.Key("gcsSource").Open('{')
	w.Key("uris").Open('[')
	w.Text(input.uri())
	w.Close(']')
	w.Close('}')
	w.Close('}')
	where, _ := t.Consume("output_data_config")
	outputConfig(&w, where, input)
	w.Key("instanceConfig").Open('{')
	w.Key("excludedFields").Open('[')
	w.Text(rowID)
	w.Close(']')
	w.Str("instanceType", "object")
	w.Close('}')
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// rowID is the member of a row that identifies it. The model does not receive it, but the output
// repeats it.
const rowID = "requestId"

// outputConfig writes the output location: Google's own object, a folder, or the folder of the
// input.
func outputConfig(w *jsonwriter.Writer, where []byte, input object) {
	if len(where) > 0 && where[0] == '{' {
		w.Raw("outputConfig", where)
		return
	}
	folder := plainText(where)
	if o, ok := readObject(folder); ok {
		folder = o.uri()
	}
	w.Key("outputConfig").Open('{')
	w.Str("predictionsFormat", "jsonl")
	w.Key("gcsDestination").Open('{')
	w.Str("outputUriPrefix", cmp.Or(folder, input.folder()))
	w.Close('}')
	w.Close('}')
}

// batchStates maps the states of a job to OpenAI's batch statuses.
var batchStates = map[string]string{
	"JOB_STATE_RUNNING": "in_progress", "JOB_STATE_UPDATING": "in_progress", "JOB_STATE_SUCCEEDED": "completed", "JOB_STATE_PARTIALLY_SUCCEEDED": "completed",
	"JOB_STATE_FAILED": "failed", "JOB_STATE_CANCELLING": "cancelling", "JOB_STATE_CANCELLED": "cancelled", "JOB_STATE_EXPIRED": "expired",
}

// batchState returns the status of a job. All states before the work starts are "validating".
func batchState(job []byte) string { return cmp.Or(batchStates[textIn(job, "state")], "validating") }

// TranslateResponse writes jobs as batches. Google's response to a cancellation is empty.
func (batches) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	var w jsonwriter.Writer
	switch incoming.Sent.Endpoint {
	case llm.CancelBatch:
		w.Open('{')
		w.Str("id", incoming.Sent.ID)
		w.Str("object", "batch")
		w.Str("status", "cancelling")
		w.Close('}')
	case llm.ListBatches:
		return batchesPages.BuildResponse(incoming)
	default:
		if jobID(incoming.Body) == "" {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response does not contain a job name")
		}
		writeBatch(&w, incoming.Body)
	}
	return &dialect.Response{Body: w.B}, nil
}

func writeBatch(w *jsonwriter.Writer, job []byte) {
	status := batchState(job)
	ended := func(name, state string) {
		if status == state {
			when(w, name, job, "endTime")
		} else {
			w.Raw(name, null)
		}
	}
	w.Open('{')
	w.Str("id", jobID(job))
	w.Str("object", "batch")
	w.Str("endpoint", batchEndpoint(job))
	w.Str("model", textIn(job, "model"))
	batchErrors(w, job)
	source, _ := jsonedit.Find(job, "inputConfig", "gcsSource", "uris")
	input, _ := readObject(only(source))
	w.Str("input_file_id", input.id())
	w.Str("completion_window", "24h")
	w.Str("status", status)
	if out, ok := outputOf(job); ok && status == "completed" {
		w.Str("output_file_id", out.id())
	} else {
		w.Raw("output_file_id", null)
	}
	w.Raw("error_file_id", null)
	when(w, "created_at", job, "createTime")
	when(w, "in_progress_at", job, "startTime")
	ended("completed_at", "completed")
	ended("failed_at", "failed")
	ended("expired_at", "expired")
	ended("cancelled_at", "cancelled")
	requestCounts(w, job)
	labels, _ := jsonedit.Find(job, "labels")
	w.Raw("metadata", labels)
	w.Close('}')
}

// only returns the first string of a list, or the string itself if raw is not a list.
func only(raw []byte) string {
	for v := range jsonedit.Elements(raw) {
		return plainText(v)
	}
	return plainText(raw)
}

// batchEndpoint derives the endpoint of a batch's lines from the model.
func batchEndpoint(job []byte) string {
	if strings.Contains(textIn(job, "model"), "embedding") {
		return "/v1/embeddings"
	}
	return "/v1/chat/completions"
}

func batchErrors(w *jsonwriter.Writer, job []byte) {
	e, failed := jsonedit.Find(job, "error")
	if !failed {
		w.Raw("errors", null)
		return
	}
	code, _ := jsonedit.Find(e, "code")
	w.Key("errors").OpenList()
	w.Open('{')
	w.Str("code", string(code))
	w.Str("message", textIn(e, "message"))
	w.Raw("param", null)
	w.Raw("line", null)
	w.Close('}')
	w.Close(']')
	w.Close('}')
}

// requestCounts writes completionStats. Its numbers are strings, and -1 means unknown.
func requestCounts(w *jsonwriter.Writer, job []byte) {
	stats, _ := jsonedit.Find(job, "completionStats")
	number := func(name string) int64 {
		val, _ := jsonedit.Find(stats, name)
		n, err := strconv.ParseInt(strings.Trim(string(val), `"`), 10, 64)
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	done, failed := number("successfulCount"), number("failedCount")
	w.Key("request_counts").Open('{')
	w.Int("total", done+failed+number("incompleteCount"))
	w.Int("completed", done)
	w.Int("failed", failed)
	w.Close('}')
}

// outputOf returns the output file of a job. Without an output directory ok is false.
func outputOf(job []byte) (object, bool) {
	dir := textIn(job, "outputInfo", "gcsOutputDirectory")
	name := "/predictions.jsonl"
	if batchEndpoint(job) == "/v1/embeddings" {
		name = "/000000000000.jsonl"
	}
	o, ok := readObject(strings.TrimSuffix(dir, "/") + name)
	return o, ok && dir != ""
}
