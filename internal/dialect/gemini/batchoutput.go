package gemini

import (
	"context"
	"io"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// batchOutput implements the results of a batch. The job contains a folder, and a file in the folder
// has a row for each request.
// Source: contract/provider-transforms.md 4.10, section 12.
type batchOutput struct{}

var _ dialect.MultiStep = batchOutput{}

// EncodeRequest requests the job.
func (batchOutput) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

// Follow requests the file of a job, and its rows become lines. A job without output is
// fault.Conflict; a row that is not a JSON object is fault.UpstreamInvalid.
func (batchOutput) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	out, ok := outputOf(incoming.Body)
	if status := batchState(incoming.Body); !ok || !hasOutput[status] {
		return dialect.Next{}, false, fault.Newf(fault.Conflict, "the batch has no output: its status is %s", status)
	}
	o := &outputWriter{incoming: incoming, model: textIn(incoming.Body, "model"), job: jobID(incoming.Body)}
	return dialect.Next{Endpoint: llm.RetrieveFileContent, ID: out.bucket + "/" + out.name, File: func(src io.Reader) io.Reader { return uploads.LineReader(src, o.row) }, ContentType: "application/jsonl"}, true, nil
}

// hasOutput lists the batch states in which the results so far are available.
var hasOutput = map[string]bool{"completed": true, "cancelled": true, "expired": true}

// TranslateResponse always fails, because the response is built from the rows of the file.
func (batchOutput) TranslateResponse(*dialect.Incoming) (*dialect.Response, error) {
	return nil, fault.New(fault.UpstreamInvalid, "the provider response does not contain the batch output")
}

type outputWriter struct {
	incoming *dialect.Incoming
	model    string
	job      string
	rows     int // number of rows written so far
}

// row writes {"id":…,"custom_id":…,"response":{"status_code":200,…},"error":null} from
// {"requestId":…,"request":{…},"status":"","response":{…}}. For a failed request, the status of the
// row becomes the error.
func (o *outputWriter) row(dst, line []byte) ([]byte, error) {
	if !jsonedit.Valid(line) {
		return dst, fault.New(fault.UpstreamInvalid, "the batch output contains a line that is not a JSON object")
	}
	o.rows++
	id := "batch_req_" + o.job + "_" + strconv.Itoa(o.rows) // the same for each retrieval of the results
	custom, ok := jsonedit.Find(line, rowID)
	if !ok {
		custom, _ = jsonedit.Find(line, "custom_id") // in Claude's rows
	}
	w := jsonwriter.AppendTo(dst)
	w.Open('{')
	w.Str("id", id)
	w.Raw("custom_id", custom)
	if body := o.body(line); body != nil {
		w.Key("response").Open('{')
		w.Int("status_code", 200)
		w.Str("request_id", id)
		w.Raw("body", body)
		w.Close('}')
	} else {
		w.Raw("response", null)
	}
	if status, ok := jsonedit.Find(line, "status"); ok && string(status) != `""` {
		w.Raw("error", status)
	} else {
		w.Raw("error", null)
	}
	w.Close('}')
	return append(w.B, '\n'), nil
}

// translateResponse translates a response of Gemini or, when it has no candidates, of Claude.
func (o *outputWriter) translateResponse(response []byte) []byte {
	lines := o.incoming.Sent.Lines
	if lines == nil {
		return response
	}
	var shape dialect.Upstream = generate{}
	if _, ok := jsonedit.Find(response, "candidates"); !ok && lines.Messages != nil {
		shape = lines.Messages
	}
	r, err := shape.DecodeResponse(&dialect.Incoming{Body: response, To: o.incoming.To})
	if err != nil {
		return response
	}
	a := &dialect.ResponseContext{Call: &llm.Call{Model: o.model}, ID: ident.NewObjectID(""), Created: o.incoming.Created, Provider: o.incoming.To.Provider, Strict: true}
	return lines.Client.EncodeResponse(nil, r, a)
}

// body returns the response to one request in OpenAI's format; nil when there is none. It returns a
// response that cannot be decoded unchanged.
func (o *outputWriter) body(line []byte) []byte {
	if response, ok := jsonedit.Find(line, "response"); ok && string(response) != "null" {
		return o.translateResponse(response)
	}
	if _, ok := jsonedit.Find(line, "predictions"); !ok {
		return nil
	}
	var usage llm.Usage
	e := embeddings.Result{Model: o.model}
	for _, v := range readVectors(nil, &usage, line) {
		e.Vectors = append(e.Vectors, v.text)
	}
	e.Usage = embedUsage(usage)
	a, err := e.BuildResponse()
	if err != nil {
		return line
	}
	return a.Body
}
