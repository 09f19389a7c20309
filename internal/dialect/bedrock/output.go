package bedrock

import (
	"cmp"
	"context"
	"io"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// output implements the results of a batch. The job contains the location of a file, and each line
// of the file contains a response of the model.
// Source: contract/provider-transforms.md 3.12;
// https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html, read 2026-11.
type output struct{}

var _ dialect.MultiStep = output{}

// EncodeRequest requests the job.
func (output) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{Path: jobPath(r.ID)}, nil
}

// Follow requests the file of a job. A line of the file becomes
// {"id":…,"custom_id":…,"response":{"status_code":200,"request_id":…,"body":{…}},"error":null}.
// A job whose state is not in hasOutput is fault.Conflict.
func (output) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	state := jsonedit.Text(incoming.Body, "status")
	if status := cmp.Or(batchStatus[state], state); !hasOutput[status] {
		return dialect.Next{}, false, fault.Newf(fault.Conflict, "the batch has no output: its status is %s", status)
	}
	file, err := outputFile(incoming.Body)
	if err != nil {
		return dialect.Next{}, false, fault.New(fault.UpstreamInvalid, "the provider's job does not contain its output location").WithCause(err)
	}
	model := jsonedit.Text(incoming.Body, "modelId")
	rows := func(src io.Reader) io.Reader {
		return uploads.LineReader(src, func(dst, line []byte) ([]byte, error) { return appendResult(dst, line, incoming, model), nil })
	}
	return dialect.Next{Endpoint: llm.RetrieveFileContent, ID: file.id(), Path: file.path(), File: rows, ContentType: "application/jsonl"}, true, nil
}

// hasOutput lists the batch states in which the results so far are available.
var hasOutput = map[string]bool{"completed": true, "cancelled": true, "expired": true}

// TranslateResponse always fails, because the response is built from the rows of the file.
func (output) TranslateResponse(*dialect.Incoming) (*dialect.Response, error) {
	return nil, fault.New(fault.UpstreamInvalid, "the provider's output file is missing")
}

// appendResult writes one line. A response that cannot be parsed in the model's format is returned
// unchanged.
func appendResult(dst, row []byte, incoming *dialect.Incoming, model string) []byte {
	id, _ := jsonedit.Find(row, "recordId")
	var w jsonwriter.Writer
	w.Open('{')
	w.Raw("id", id)
	w.Raw("custom_id", id)
	if modelOutput, ok := jsonedit.Find(row, "modelOutput"); ok && string(modelOutput) != "null" {
		w.Key("response").Open('{')
		w.Int("status_code", 200)
		w.Raw("request_id", id)
		w.Raw("body", chatResponse(modelOutput, incoming, model))
		w.Close('}')
		w.Raw("error", nullJSON)
	} else {
		w.Raw("response", nullJSON)
		why, _ := jsonedit.Find(row, "error")
		code, _ := jsonedit.Find(why, "errorCode")
		w.Key("error").Open('{')
		w.Str("code", cmp.Or(plain(code), string(code)))
		w.Str("message", jsonedit.Text(why, "errorMessage"))
		w.Close('}')
	}
	w.Close('}')
	return append(append(dst, w.B...), '\n')
}

// chatResponse returns a model's response as a chat completion.
func chatResponse(modelOutput []byte, incoming *dialect.Incoming, model string) []byte {
	lines := incoming.Sent.Lines
	if lines == nil {
		return modelOutput
	}
	to := *incoming.To
	to.Model, to.Profiled = model, ""
	r, err := readModelOutput(&dialect.Incoming{Status: 200, Body: modelOutput, Created: incoming.Created, To: &to}, lines)
	if err != nil {
		return modelOutput
	}
	a := dialect.ResponseContext{Call: &llm.Call{Surface: llm.ChatComplete, Model: model}, ID: newID(), Created: incoming.Created, Provider: to.Provider, Strict: true}
	return lines.Client.EncodeResponse(nil, r, &a)
}

// readModelOutput reads the response of a natively invoked model.
func readModelOutput(incoming *dialect.Incoming, lines *dialect.FileLines) (*llm.Response, error) {
	_, conversed := jsonedit.Find(incoming.Body, "output", "message")
	switch {
	case conversed: // Nova's native format is that of Converse
		return decodeConverse(incoming)
	case familyOf(incoming.To.Underlying()) == anthropic && lines.Messages != nil:
		return lines.Messages.DecodeResponse(incoming)
	}
	return decodeFlat(incoming)
}
