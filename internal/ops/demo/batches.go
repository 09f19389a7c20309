package demo

import (
	"net/http"
)

// batch is a batch object. Each read advances it by one state, so that a client sees the states
// without waiting: validating, in_progress, completed. The calls are made on the step to
// completed.
type batch struct {
	ID         string        `json:"id"`
	Object     string        `json:"object"` // "batch"
	Endpoint   string        `json:"endpoint"`
	Errors     *struct{}     `json:"errors"`
	Input      string        `json:"input_file_id"`
	Window     string        `json:"completion_window"`
	Status     string        `json:"status"`
	Output     *string       `json:"output_file_id"`
	ErrorFile  *string       `json:"error_file_id"`
	Created    int64         `json:"created_at"`
	InProgress *int64        `json:"in_progress_at"`
	Expires    int64         `json:"expires_at"`
	Completed  *int64        `json:"completed_at"`
	Cancelled  *int64        `json:"cancelled_at"`
	Counts     requestCounts `json:"request_counts"`
	Metadata   any           `json:"metadata"`
}

type requestCounts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

// batchEndpoints are the endpoints that a batch may call.
var batchEndpoints = map[string]bool{"/v1/chat/completions": true, "/v1/completions": true, "/v1/embeddings": true, "/v1/responses": true}

// batchAPI serves batches. It sends the calls of a batch to the provider itself.
type batchAPI struct {
	*serverState
	files    *fileAPI
	provider http.Handler
	stored   *store[batch]
}

func (api *batchAPI) createBatch(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		Input    string            `json:"input_file_id"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Metadata map[string]string `json:"metadata"`
	}
	if _, err := decode(w, r, &q); err != nil {
		return err
	}
	input, ok := api.files.stored.find(q.Input)
	switch {
	case !ok:
		return badParam("input_file_id", "No such File object: %s", q.Input)
	case input.Purpose != "batch":
		return badParam("input_file_id", "The file's purpose is %q, not batch.", input.Purpose)
	case !batchEndpoints[q.Endpoint]:
		return badParam("endpoint", "%q is not an endpoint that batches can call.", q.Endpoint)
	case q.Window != "24h":
		return badParam("completion_window", "Invalid 'completion_window': expected 24h.")
	}
	b := batch{
		ID: api.numbered("batch_"), Object: "batch", Endpoint: q.Endpoint, Input: q.Input, Window: q.Window,
		Status: "validating", Created: api.now(), Expires: api.now() + 24*3600,
	}
	if q.Metadata != nil {
		b.Metadata = q.Metadata
	}
	api.stored.put(b.ID, b, maxRecordBytes/maxRecords)
	writeJSON(w, http.StatusOK, b)
	return nil
}

func (api *batchAPI) listBatches(w http.ResponseWriter, r *http.Request) error {
	return writePage(w, r, api.stored)
}

// findBatch returns the batch after its next step. Two concurrent callers may both make the
// calls; the responses are the same, and the second output file wins.
func (api *batchAPI) findBatch(w http.ResponseWriter, r *http.Request) error {
	b, err := api.stored.named(r, "batch")
	if err != nil {
		return err
	}
	now := api.now()
	switch b.Status {
	case "validating":
		b.Status, b.InProgress = "in_progress", &now
	case "in_progress":
		api.runBatch(r.Context(), &b)
		b.Status, b.Completed = "completed", &now
	}
	api.stored.change(b.ID, func(batch) batch { return b })
	writeJSON(w, http.StatusOK, b)
	return nil
}

func (api *batchAPI) cancelBatch(w http.ResponseWriter, r *http.Request) error {
	now := api.now()
	b, ok := api.stored.change(r.PathValue("id"), func(b batch) batch {
		if b.Status == "validating" || b.Status == "in_progress" {
			b.Status, b.Cancelled = "cancelled", &now
		}
		return b
	})
	switch {
	case !ok:
		return missing("batch", r.PathValue("id"))
	case b.Status != "cancelled":
		return &refusal{Status: http.StatusConflict, Message: "Cannot cancel a batch with status '" + b.Status + "'."}
	}
	writeJSON(w, http.StatusOK, b)
	return nil
}
