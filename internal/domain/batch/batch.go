// Package batch contains the batches that the gateway manages itself: their files, their states and
// the rows of their input and result files, in the formats of OpenAI's batch API. It does not run
// batches and does no I/O. Start reading at Batch; Progress shows which lines have a result.
// Source: https://platform.openai.com/docs/api-reference/batch, read 2026-11.
package batch

import (
	"encoding/json"
	"time"
)

// State is the state of a batch, as OpenAI names it, and one of the gateway.
type State string

// The states. The first four are of a running batch.
const (
	Validating     State = "validating"
	InProgress     State = "in_progress"
	PostProcessing State = "processing_post_request_guardrails" // output hooks judge the results of a provider
	Cancelling     State = "cancelling"
	Finalizing     State = "finalizing"
	Completed      State = "completed"
	Failed         State = "failed"
	Expired        State = "expired"
	Cancelled      State = "cancelled"
)

// Ended reports whether a batch in this state does not change any more.
func (s State) Ended() bool {
	switch s {
	case Completed, Failed, Expired, Cancelled:
		return true
	default:
		return false
	}
}

// Immediate is the completion window of batches whose calls the gateway makes itself. Another
// window, such as "24h", is that of a provider's batch.
const Immediate = "immediate"

// Limits of batches.
const (
	MaxLines         = 50_000    // lines of an input file. Source: OpenAI's limit.
	MaxMetadata      = 16        // entries of the metadata
	MaxMetadataKey   = 64        // characters of a name in the metadata
	MaxMetadataValue = 512       // characters of a value in the metadata
	MaxProblems      = 20        // problems that a batch lists
	MaxHeaderBytes   = 64 << 10  // of all gateway_options together
	MaxCustomID      = 512       // bytes of a custom_id
	ChunkBytes       = 512 << 10 // of a stored part of a file, before it is sealed
)

// Prefixes of ids. Nothing else creates ids of this form, so an id shows that the gateway manages
// its object.
const (
	FilePrefix = "file-gw"
	IDPrefix   = "batch_gw"
)

// File is an uploaded file, or a result file of a batch. Its content is stored in Chunks parts.
type File struct {
	ID          string    `json:"id"` // "file-gw…"
	OrgID       string    `json:"org_id"`
	WorkspaceID string    `json:"workspace_id"`
	KeyID       string    `json:"key_id"` // of the caller
	Name        string    `json:"name"`   // "requests.jsonl"
	Purpose     string    `json:"purpose"`
	Bytes       int64     `json:"bytes"`
	Lines       int64     `json:"lines"`
	Chunks      int       `json:"chunks"`
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
}

// Purposes of files.
const (
	PurposeInput  = "batch"
	PurposeOutput = "batch_output"
)

// Batch is a batch as it is stored. It belongs to a workspace.
type Batch struct {
	ID          string `json:"id"` // "batch_gw…"
	OrgID       string `json:"org_id"`
	WorkspaceID string `json:"workspace_id"`
	KeyID       string `json:"key_id"`   // of the caller who created it, and whose rights its calls have
	KeyHash     string `json:"key_hash"` // hexadecimal hash of that key, which finds it

	Endpoint    string            `json:"endpoint"` // "/v1/chat/completions"
	Window      string            `json:"window"`   // "immediate"
	InputFileID string            `json:"input_file_id"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Headers     []byte            `json:"headers,omitempty"` // header of its calls, sealed: it may contain credentials

	State    State     `json:"state"`
	Times    Times     `json:"times"`
	End      End       `json:"end"`                // how it ends, once that is decided
	Problems []Problem `json:"problems,omitempty"` // at most MaxProblems
	Progress Progress  `json:"progress"`
	Output   Result    `json:"output"` // of successful lines
	Errors   Result    `json:"errors"` // of the other lines
	Upstream Upstream  `json:"upstream"`
	Due      time.Time `json:"due"` // time of its next step
}

// Times are the times of the states of a batch. A zero time has not come.
type Times struct {
	Created        time.Time `json:"created"`
	Expires        time.Time `json:"expires"` // lines without a result are given up then
	InProgress     time.Time `json:"in_progress"`
	PostProcessing time.Time `json:"post_processing"`
	Finalizing     time.Time `json:"finalizing"`
	Cancelling     time.Time `json:"cancelling"`
	Ended          time.Time `json:"ended"`
}

// End is the decision to end a batch. Lines without a result get an error with the code.
type End struct {
	State   State  `json:"state,omitempty"` // empty: not decided
	Code    string `json:"code,omitempty"`  // "batch_expired"
	Message string `json:"message,omitempty"`
}

// Problem is an error of the complete batch, for example of a line of its input.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param,omitempty"`
	Line    int64  `json:"line,omitempty"` // from 1; 0 for none
}

// Result is a result file that grows.
type Result struct {
	FileID string `json:"file_id,omitempty"` // empty: there are no results yet
	Bytes  int64  `json:"bytes,omitempty"`
	Lines  int64  `json:"lines,omitempty"`
	Chunks int    `json:"chunks,omitempty"`
}

// Upstream is the batch of a provider to which the gateway delegated the work.
type Upstream struct {
	Creating    bool   `json:"creating,omitempty"` // the request to create it may have been sent
	FileID      string `json:"file_id,omitempty"`
	BatchID     string `json:"batch_id,omitempty"`
	HasOutput   bool   `json:"has_output,omitempty"`
	ErrorFileID string `json:"error_file_id,omitempty"`
	Status      string `json:"status,omitempty"`
	Polls       int    `json:"polls,omitempty"`
	Cancelled   bool   `json:"cancelled,omitempty"` // the provider was requested to cancel it
	Done        int64  `json:"done,omitempty"`      // completed lines, as the provider reports them
}

// Delegated reports whether a provider runs the batch.
func (b *Batch) Delegated() bool { return b.Window != Immediate }

// Encode returns the stored form of a batch.
func (b *Batch) Encode() ([]byte, error) { return json.Marshal(b) }

// Decode reads what Encode wrote.
func Decode(body []byte) (*Batch, error) {
	b := new(Batch)
	if err := json.Unmarshal(body, b); err != nil {
		return nil, err
	}
	return b, nil
}

// Encode returns the stored form of a file.
func (f *File) Encode() ([]byte, error) { return json.Marshal(f) }

// DecodeFile reads what File.Encode wrote.
func DecodeFile(body []byte) (*File, error) {
	f := new(File)
	if err := json.Unmarshal(body, f); err != nil {
		return nil, err
	}
	return f, nil
}

// AddProblem adds a problem, up to MaxProblems.
func (b *Batch) AddProblem(p Problem) {
	if len(b.Problems) < MaxProblems {
		b.Problems = append(b.Problems, p)
	}
}

// EndAs decides how the batch ends, unless that is decided: lines without a result get the code.
func (b *Batch) EndAs(e End, now time.Time) {
	if b.End.State != "" || b.State.Ended() {
		return
	}
	b.End, b.Due = e, now
	if b.State != Cancelling {
		b.State, b.Times.Finalizing = Finalizing, now
	}
}

// Cancel requests the end of a batch. It changes nothing on a batch that has ended or is ending.
func (b *Batch) Cancel(now time.Time) {
	if b.State.Ended() || b.State == Cancelling || b.State == Finalizing {
		return
	}
	b.State, b.Times.Cancelling, b.Due = Cancelling, now, now
}

// Close moves a batch to the state that End decided.
func (b *Batch) Close(now time.Time) {
	b.State, b.Times.Ended = b.End.State, now
	if b.Times.Finalizing.IsZero() {
		b.Times.Finalizing = now
	}
}
