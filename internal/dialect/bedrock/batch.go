package bedrock

import (
	"cmp"
	"context"
	"path"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// newBatch creates a batch, which is a model invocation job in Bedrock.
// Source: contract/provider-transforms.md 3.12 and 12;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelInvocationJob.html, read 2026-11.
type newBatch struct{}

// batches implements retrieval, listing and cancellation of batches.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_GetModelInvocationJob.html, read 2026-11.
type batches struct{}

var (
	_ dialect.OpenAIEndpoint = newBatch{}
	_ dialect.MultiStep      = batches{}
)

// EncodeRequest builds the request for a new job. Members in Amazon's format, from
// provider_options, win, except for the model.
func (newBatch) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	input, role, err := jobInput(t, "input_file_id", to)
	if err != nil {
		return nil, err
	}
	t.Consume("endpoint") // the lines of the file contain it
	if raw, _ := t.Peek("completion_window"); plain(raw) == "24h" {
		t.Consume("completion_window") // the shortest that Bedrock has, and its default
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("modelId", to.Model)
	w.Raw("roleArn", role)
	if raw, ok := t.Consume("job_name"); ok {
		w.Raw("jobName", raw)
	} else {
		w.Str("jobName", "batch-"+ident.NewID())
	}
	w.Key("inputDataConfig").Open('{')
	w.Key("s3InputDataConfig").Open('{')
	w.Str("s3InputFormat", "JSONL")
	w.Str("s3Uri", input.String())
	w.Close('}')
	w.Close('}')
	w.Raw("outputDataConfig", batchOutput(t, input, to))
	w.Close('}')
	options, _ := t.Consume("provider_options")
	return &dialect.Outgoing{Body: merged(options, w.B, "modelId"), Dropped: t.Dropped()}, nil
}

// batchOutput returns the configuration for the results of a batch. They are encrypted with the
// key of the credential, if it has one.
func batchOutput(t *llm.FieldTracker, input s3Object, to *dialect.Target) []byte {
	uri := outputConfig(t, input, "output_data_config")
	if uri[0] == '{' {
		return uri
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("s3OutputDataConfig").Open('{')
	w.Raw("s3Uri", uri)
	w.Opt("s3EncryptionKeyId", valueOf(to, "aws_server_side_encryption_kms_key_id"))
	w.Close('}')
	w.Close('}')
	return w.B
}

// TranslateResponse reads {"jobArn":…}, the only member that Bedrock returns for a new job.
func (newBatch) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	arn, err := created(incoming.Body)
	if err != nil {
		return nil, err
	}
	endpoint, _ := jsonedit.Find(incoming.Sent.Body, "endpoint")
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", escape(arn))
	w.Str("object", "batch")
	w.Str("endpoint", cmp.Or(plain(endpoint), chatPath))
	w.Str("model", incoming.To.Model)
	w.Str("input_file_id", jsonedit.Text(incoming.Sent.Body, "input_file_id"))
	w.Str("completion_window", "24h")
	w.Str("status", "validating")
	w.Raw("output_file_id", nullJSON)
	w.Raw("error_file_id", nullJSON)
	w.Int("created_at", incoming.Created)
	w.Close('}')
	return &dialect.Response{Body: w.B, Model: incoming.To.Model}, nil
}

const chatPath = "/v1/chat/completions"

var batchesPages = pages("invocationJobSummaries", writeBatch)

// EncodeRequest builds a request to retrieve a job by its ARN, to stop it, or to list jobs. The
// request to stop a job has no body.
func (batches) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	switch r.Endpoint {
	case llm.ListBatches:
		return batchesPages.EncodeRequest(r.Query)
	case llm.CancelBatch:
		return &dialect.Outgoing{Path: jobPath(r.ID) + "/stop"}, nil
	default:
		return &dialect.Outgoing{Path: jobPath(r.ID)}, nil
	}
}

func jobPath(id string) string { return "/model-invocation-job/" + escape(unescape(id)) }

// Follow requests the next page of a list.
func (batches) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if incoming.Sent.Endpoint != llm.ListBatches {
		return dialect.Next{}, false, nil
	}
	return batchesPages.Follow(incoming)
}

// TranslateResponse reads a job or {"invocationJobSummaries":[…]}. It does not read the response
// to a cancellation.
func (batches) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	switch incoming.Sent.Endpoint {
	case llm.CancelBatch:
		return cancelled("batch", incoming.Sent.ID), nil
	case llm.ListBatches:
		return batchesPages.BuildResponse(incoming)
	default:
		return one(incoming.Body, writeBatch)
	}
}

// batchStatus maps the states of a job to OpenAI's. writeBatch writes an unknown state unchanged.
// Source: contract/provider-transforms.md 3.12.
var batchStatus = map[string]string{
	"Submitted": "validating", "Validating": "validating", "Scheduled": "validating", "InProgress": "in_progress",
	"Completed": "completed", "PartiallyCompleted": "completed", "Failed": "failed", "Stopping": "cancelling", "Stopped": "cancelled",
	"Expired": "expired",
}

// ended maps a batch state to the field with the time at which the batch ended.
var ended = map[string]string{"completed": "completed_at", "failed": "failed_at", "cancelled": "cancelled_at", "expired": "expired_at"}

// writeBatch writes a job, or its summary, as a batch.
func writeBatch(w *jsonwriter.Writer, raw []byte) {
	state := jsonedit.Text(raw, "status")
	status := cmp.Or(batchStatus[state], state)
	w.Open('{')
	w.Str("id", escape(jsonedit.Text(raw, "jobArn")))
	w.Str("object", "batch")
	w.Str("endpoint", chatPath)
	w.Str("model", jsonedit.Text(raw, "modelId"))
	writeErrors(w, status, jsonedit.Text(raw, "message"))
	w.Str("input_file_id", escape(jsonedit.Text(inputOf(raw), "s3Uri")))
	w.Str("completion_window", "24h")
	w.Str("status", status)
	if out, err := outputFile(raw); err == nil && status == "completed" {
		w.Str("output_file_id", out.id())
	} else {
		w.Raw("output_file_id", nullJSON)
	}
	w.Raw("error_file_id", nullJSON)
	submitted, _ := jsonedit.Find(raw, "submitTime")
	end, _ := jsonedit.Find(raw, "endTime")
	expires, _ := jsonedit.Find(raw, "jobExpirationTime")
	writeTime(w, "created_at", submitted)
	writeTime(w, "expires_at", expires)
	writeTime(w, "finalizing_at", end)
	if name := ended[status]; name != "" {
		writeTime(w, name, end)
	}
	w.Key("request_counts").Open('{')
	for _, n := range [...][2]string{{"total", "totalRecordCount"}, {"completed", "successRecordCount"}, {"failed", "errorRecordCount"}} {
		val, _ := jsonedit.Find(raw, n[1])
		k, _ := usage.Count(val)
		w.Int(n[0], k)
	}
	w.Close('}')
	w.Close('}')
}

func inputOf(raw []byte) []byte {
	val, _ := jsonedit.Find(raw, "inputDataConfig", "s3InputDataConfig")
	return val
}

func writeErrors(w *jsonwriter.Writer, status, message string) {
	if message == "" {
		w.Raw("errors", nullJSON)
		return
	}
	w.Key("errors").OpenList()
	w.Open('{')
	w.Str("code", status)
	w.Str("message", message)
	w.Close('}')
	w.Close(']')
	w.Close('}')
}

// outputFile returns the object with the results of a job. The output folder contains a folder
// with the job's id, and the file there has the input's name with the suffix ".out".
// Source: https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html, read 2026-11.
func outputFile(raw []byte) (s3Object, error) {
	uri, _ := jsonedit.Find(raw, "outputDataConfig", "s3OutputDataConfig", "s3Uri")
	arn := jsonedit.Text(raw, "jobArn")
	name := path.Base(jsonedit.Text(inputOf(raw), "s3Uri"))
	folder := strings.TrimSuffix(plain(uri), "/")
	return parseS3Object(folder+"/"+arn[strings.LastIndexByte(arn, '/')+1:]+"/"+name+".out", "output_file_id")
}
