package cohere

import (
	"context"
	"io"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// output implements the results of a batch. The job contains the id of a dataset, the dataset lists
// its parts, and each part is an Avro file.
// Source: contract/provider-transforms.md 6.4.
type output struct{}

var _ dialect.MultiStep = output{}

// EncodeRequest requests the job.
func (output) EncodeRequest(context.Context, *dialect.Request, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

// Follow requests the dataset of a job, and then the parts of the dataset. A row of a part becomes a
// line {"id":…,"custom_id":…,"response":{"status_code":200,"body":[…]}}. A job without output is
// fault.Conflict.
func (output) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if len(incoming.More) == 0 {
		b := readBatch(incoming.Body)
		if b.status != "completed" || b.output == "" {
			return dialect.Next{}, false, fault.Newf(fault.Conflict, "the batch has no output: its status is %s", b.status)
		}
		return dialect.Next{Endpoint: llm.RetrieveFile, ID: b.output}, true, nil
	}
	var urls []string
	parts, _ := jsonedit.Find(incoming.More[0], "dataset", "dataset_parts")
	for p := range jsonedit.Elements(parts) {
		url := jsonedit.Text(p, "url")
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

// TranslateResponse returns an empty response, for a dataset without parts.
func (output) TranslateResponse(*dialect.Incoming) (*dialect.Response, error) {
	return &dialect.Response{ContentType: "application/jsonl"}, nil
}

func appendLine(dst, row []byte) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	for _, name := range [...]string{"id", "custom_id"} {
		val, _ := jsonedit.Find(row, name)
		w.Raw(name, val)
	}
	w.Key("response").Open('{')
	w.Int("status_code", 200)
	for _, name := range [...]string{"embedding", "embeddings"} {
		if val, ok := jsonedit.Find(row, name); ok {
			w.Raw("body", val)
			break
		}
	}
	w.Close('}')
	w.Raw("error", []byte("null"))
	w.Close('}')
	return append(append(dst, w.B...), '\n')
}
