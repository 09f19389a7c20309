package cohere

import (
	"context"
	"io"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// output is what a batch came to: the job names a dataset, the dataset its parts, each
// of which is an Avro file.
// Source: contract/provider-transforms.md 6.4.
type output struct{}

var _ dialect.MultiStep = output{}

// EncodeRequest asks for the job.
func (output) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

// Follow leads from the job to the dataset and from that to its parts, a row of which
// becomes a line {"id":…,"custom_id":…,"response":{"status_code":200,"body":[…]}}. A job
// without output is fault.Conflict.
func (output) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if len(incoming.More) == 0 {
		b := readBatch(incoming.Body)
		if b.status != "completed" || b.output == "" {
			return dialect.Next{}, false, fault.Newf(fault.Conflict, "the batch has no output: its status is %s", b.status)
		}
		return dialect.Next{Endpoint: llm.RetrieveFile, ID: b.output}, true, nil
	}
	var urls []string
	parts, _ := splice.Find(incoming.More[0], "dataset", "dataset_parts")
	for p := range splice.Elements(parts) {
		url := splice.Text(p, "url")
		if url == "" {
			return dialect.Next{}, false, fault.New(fault.UpstreamInvalid, "the provider's dataset has a part without a URL")
		}
		urls = append(urls, url)
	}
	if len(urls) == 0 {
		return dialect.Next{}, false, nil
	}
	rows := func(src io.Reader) io.Reader { return readAvro(src, appendLine) }
	return dialect.Next{URL: urls[0], Further: urls[1:], File: rows, ContentType: "application/jsonl"}, true, nil
}

// TranslateResponse is the answer of a dataset without parts: no lines.
func (output) TranslateResponse(*dialect.Incoming) (*dialect.Response, error) {
	return &dialect.Response{ContentType: "application/jsonl"}, nil
}

func appendLine(dst, row []byte) []byte {
	var w dialect.JSON
	w.Open('{')
	for _, name := range [...]string{"id", "custom_id"} {
		val, _ := splice.Find(row, name)
		w.Raw(name, val)
	}
	w.Key("response").Open('{')
	w.Int("status_code", 200)
	for _, name := range [...]string{"embedding", "embeddings"} {
		if val, ok := splice.Find(row, name); ok {
			w.Raw("body", val)
			break
		}
	}
	w.Close('}')
	w.Raw("error", []byte("null"))
	w.Close('}')
	return append(append(dst, w.B...), '\n')
}
