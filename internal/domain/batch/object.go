package batch

import (
	"encoding/json"
	"time"
)

// fileObject is a file in OpenAI's format.
type fileObject struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Bytes     int64  `json:"bytes"`
	CreatedAt int64  `json:"created_at"`
	ExpiresAt int64  `json:"expires_at"`
	Filename  string `json:"filename"`
	Purpose   string `json:"purpose"`
	Status    string `json:"status"`
}

// JSON returns the file in OpenAI's format.
func (f *File) JSON() ([]byte, error) {
	return json.Marshal(fileObject{f.ID, "file", f.Bytes, f.Created.Unix(), f.Expires.Unix(), f.Name, f.Purpose, "processed"})
}

// batchObject is a batch in OpenAI's format, with the times of the gateway's own state.
type batchObject struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Endpoint         string            `json:"endpoint"`
	Errors           *problemList      `json:"errors"`
	InputFileID      string            `json:"input_file_id"`
	Window           string            `json:"completion_window"`
	Status           State             `json:"status"`
	OutputFileID     *string           `json:"output_file_id"`
	ErrorFileID      *string           `json:"error_file_id"`
	CreatedAt        int64             `json:"created_at"`
	InProgressAt     *int64            `json:"in_progress_at"`
	ExpiresAt        int64             `json:"expires_at"`
	PostProcessingAt *int64            `json:"processing_post_request_guardrails_at,omitempty"`
	FinalizingAt     *int64            `json:"finalizing_at"`
	CompletedAt      *int64            `json:"completed_at"`
	FailedAt         *int64            `json:"failed_at"`
	ExpiredAt        *int64            `json:"expired_at"`
	CancellingAt     *int64            `json:"cancelling_at"`
	CancelledAt      *int64            `json:"cancelled_at"`
	RequestCounts    requestCounts     `json:"request_counts"`
	Metadata         map[string]string `json:"metadata"`
}

type requestCounts struct {
	Total     int64 `json:"total"`
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
}

type problemList struct {
	Object string          `json:"object"`
	Data   []problemObject `json:"data"`
}

type problemObject struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
	Line    *int64  `json:"line"`
}

// JSON returns the batch in OpenAI's format. Ids of result files appear when the batch has ended.
func (b *Batch) JSON() ([]byte, error) {
	p := &b.Progress
	o := batchObject{
		ID: b.ID, Object: "batch", Endpoint: b.Endpoint, InputFileID: b.InputFileID, Window: b.Window, Status: b.State,
		CreatedAt: b.Times.Created.Unix(), ExpiresAt: b.Times.Expires.Unix(), Metadata: b.Metadata,
		InProgressAt: unix(b.Times.InProgress), PostProcessingAt: unix(b.Times.PostProcessing), FinalizingAt: unix(b.Times.Finalizing), CancellingAt: unix(b.Times.Cancelling),
		RequestCounts: requestCounts{p.Total, max(p.Completed, min(b.Upstream.Done, p.Total-p.Failed)), p.Failed},
	}
	for state, at := range map[State]**int64{Completed: &o.CompletedAt, Failed: &o.FailedAt, Expired: &o.ExpiredAt, Cancelled: &o.CancelledAt} {
		if b.State == state {
			*at = unix(b.Times.Ended)
		}
	}
	if b.State.Ended() {
		o.OutputFileID, o.ErrorFileID = text(b.Output.FileID), text(b.Errors.FileID)
	}
	if len(b.Problems) > 0 {
		o.Errors = &problemList{Object: "list"}
		for _, q := range b.Problems {
			line := &q.Line
			if q.Line == 0 {
				line = nil
			}
			o.Errors.Data = append(o.Errors.Data, problemObject{q.Code, q.Message, text(q.Param), line})
		}
	}
	return json.Marshal(o)
}

func unix(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	s := t.Unix()
	return &s
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ListJSON returns a list of objects in OpenAI's format, with the ids of the first and the last.
func ListJSON(objects []json.RawMessage, first, last string, more bool) ([]byte, error) {
	if objects == nil {
		objects = []json.RawMessage{}
	}
	return json.Marshal(struct {
		Object  string            `json:"object"`
		Data    []json.RawMessage `json:"data"`
		FirstID *string           `json:"first_id"`
		LastID  *string           `json:"last_id"`
		HasMore bool              `json:"has_more"`
	}{"list", objects, text(first), text(last), more})
}
