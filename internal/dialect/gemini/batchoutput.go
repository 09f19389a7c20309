package gemini

import (
	"bytes"
	"context"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// batchOutput is what a batch came to: the job names a folder, in which a file has a
// row for each request.
// Source: contract/provider-transforms.md 4.10, section 12.
type batchOutput struct{}

var _ dialect.Follower = batchOutput{}

// EncodeRequest asks for the job.
func (batchOutput) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

// Follow leads from the job to its file. A job without output is fault.Conflict.
func (batchOutput) Follow(in *dialect.Incoming) (dialect.Next, bool, error) {
	if len(in.More) > 0 {
		return dialect.Next{}, false, nil
	}
	out, ok := outputOf(in.Body)
	if status := batchState(in.Body); !ok || status != "completed" {
		return dialect.Next{}, false, fault.Newf(fault.Conflict, "the batch has no output: its status is %s", status)
	}
	return dialect.Next{Endpoint: llm.RetrieveFileContent, ID: out.bucket + "/" + out.name}, true, nil
}

// DecodeAnswer writes a line for each row.
func (batchOutput) DecodeAnswer(in *dialect.Incoming) (*dialect.Answer, error) {
	if len(in.More) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider gave no output of the batch")
	}
	o := outputWriter{in: in, model: textIn(in.Body, "model"), job: jobID(in.Body)}
	for line := range bytes.SplitSeq(in.More[0], []byte{'\n'}) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !splice.Valid(line) {
			return nil, fault.New(fault.UpstreamInvalid, "the output of the batch has a line that is not a JSON object")
		}
		o.row(line)
	}
	return &dialect.Answer{Body: o.B, ContentType: "application/jsonl"}, nil
}

type outputWriter struct {
	dialect.JSON
	in    *dialect.Incoming
	model string
	job   string
	rows  int // written so far
}

// row writes {"id":…,"custom_id":…,"response":{"status_code":200,…},"error":null} of
// {"requestId":…,"request":{…},"status":"","response":{…}}. What failed has its status
// as the error.
func (o *outputWriter) row(line []byte) {
	o.rows++
	id := "batch_req_" + o.job + "_" + strconv.Itoa(o.rows) // the same whenever it is asked for
	custom, ok := splice.Find(line, rowID)
	if !ok {
		custom, _ = splice.Find(line, "custom_id") // of Claude's rows
	}
	w := dialect.On(o.B)
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
	if status, ok := splice.Find(line, "status"); ok && string(status) != `""` {
		w.Raw("error", status)
	} else {
		w.Raw("error", null)
	}
	w.Close('}')
	o.B = append(w.B, '\n')
}

// said is an answer of Gemini or, when it has no candidates, of Claude.
func (o *outputWriter) said(response []byte) []byte {
	lines := o.in.Sent.Lines
	if lines == nil {
		return response
	}
	var shape dialect.Upstream = generate{}
	if _, ok := splice.Find(response, "candidates"); !ok && lines.Messages != nil {
		shape = lines.Messages
	}
	r, err := shape.DecodeReply(&dialect.Incoming{Body: response, To: o.in.To})
	if err != nil {
		return response
	}
	a := &dialect.Answering{Call: &llm.Call{Model: o.model}, ID: ident.NewItem(""), Created: o.in.Created, Provider: o.in.To.Provider, Strict: true}
	return lines.Client.EncodeReply(nil, r, a)
}

// body is the answer to one request in OpenAI's shape; nil when there is none. An
// answer that nobody here can read stands as it came.
func (o *outputWriter) body(line []byte) []byte {
	if response, ok := splice.Find(line, "response"); ok && string(response) != "null" {
		return o.said(response)
	}
	if _, ok := splice.Find(line, "predictions"); !ok {
		return nil
	}
	var usage llm.Usage
	e := dialect.Embeddings{Model: o.model}
	for _, v := range readVectors(nil, &usage, line) {
		e.Vectors = append(e.Vectors, v.text)
	}
	e.Usage = embedUsage(usage)
	a, err := e.Answer()
	if err != nil {
		return line
	}
	return a.Body
}
