package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// batchLine is one line of a batch's input file.
type batchLine struct {
	CustomID string          `json:"custom_id"`
	Method   string          `json:"method"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
}

// batchResult is one line of the batch's output file, or of its error file.
type batchResult struct {
	ID       string         `json:"id"`
	CustomID string         `json:"custom_id"`
	Response *batchResponse `json:"response"`
	Error    *batchError    `json:"error"`
}

type batchResponse struct {
	Status    int             `json:"status_code"`
	RequestID string          `json:"request_id"`
	Body      json.RawMessage `json:"body"`
}

type batchError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// runBatch makes the batch's calls on the provider itself and stores the results: responses in
// the output file, unusable lines in the error file. It stops at maxBatchLines, and when a file
// would exceed maxFile.
func (api *batchAPI) runBatch(ctx context.Context, b *batch) {
	input, _ := api.files.stored.find(b.Input) // a file deleted meanwhile is an empty batch
	var out, bad bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(input.body))
	lines.Buffer(nil, maxJSON)
	for b.Counts.Total < maxBatchLines && lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		b.Counts.Total++
		res := api.runLine(ctx, b, lines.Bytes())
		to, count := &out, &b.Counts.Completed
		if res.Error != nil {
			to, count = &bad, &b.Counts.Failed
		}
		*count++
		line, err := json.Marshal(res)
		if err != nil || to.Len()+len(line) >= maxFile {
			break
		}
		to.Write(append(line, '\n'))
	}
	b.Output = api.storeResults(b.ID+"_output.jsonl", out.Bytes())
	b.ErrorFile = api.storeResults(b.ID+"_error.jsonl", bad.Bytes())
}

// storeResults stores a file of results and returns its id, nil if it is empty.
func (api *batchAPI) storeResults(name string, body []byte) *string {
	if len(body) == 0 {
		return nil
	}
	f := api.files.storeFile(name, "batch_output", body)
	return &f.ID
}

func (api *batchAPI) runLine(ctx context.Context, b *batch, raw []byte) batchResult {
	var line batchLine
	err := json.Unmarshal(raw, &line)
	res := batchResult{ID: fmt.Sprintf("batch_req_%s_%d", b.ID, b.Counts.Total), CustomID: line.CustomID}
	switch {
	case err != nil:
		res.Error = &batchError{"invalid_json_line", "This line is not parseable as valid JSON."}
	case line.Method != http.MethodPost || line.URL != b.Endpoint:
		res.Error = &batchError{"mismatched_endpoint", "The line's method or url does not match the batch."}
	default:
		res.Response, res.Error = api.callSelf(ctx, line)
	}
	return res
}

func (api *batchAPI) callSelf(ctx context.Context, line batchLine) (*batchResponse, *batchError) {
	r, err := http.NewRequestWithContext(ctx, line.Method, line.URL, bytes.NewReader(line.Body))
	if err != nil {
		return nil, &batchError{"invalid_url", "The line's url is not usable."}
	}
	w := &capture{head: http.Header{}}
	api.provider.ServeHTTP(w, r)
	if !json.Valid(w.body.Bytes()) {
		return nil, &batchError{"invalid_request", "Streams are not supported in a batch."}
	}
	return &batchResponse{Status: w.status, RequestID: "req_" + seedOf(line.Body), Body: w.body.Bytes()}, nil
}

// capture records a response of the provider to its own request.
type capture struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

func (c *capture) Header() http.Header         { return c.head }
func (c *capture) WriteHeader(status int)      { c.status = status }
func (c *capture) Write(p []byte) (int, error) { return c.body.Write(p) }
func (c *capture) FlushError() error           { return nil }
