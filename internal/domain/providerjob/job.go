// Package providerjob follows work that providers finish long after they accepted it: batches,
// fine-tuning jobs and videos. Each open job is a stored row, so that its reservation survives
// the process and is replaced with its cost exactly once, whichever node detects the end. The
// package does not depend on HTTP, prices or a database: a Checker reads and bills a job, a
// Store stores the rows. Start reading at Tracker.
package providerjob

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"sluice/internal/kernel/llm"
)

// Kind is the kind of a job. The zero value is not a job.
type Kind string

// These are the kinds.
const (
	Batch    Kind = "batch"
	Finetune Kind = "finetune"
	Video    Kind = "video"
	Eval     Kind = "eval"    // a run of an evaluation: its cost cannot be known in advance
	Unknown  Kind = "unknown" // a job of another shape: it cannot be followed
)

// Measure is what a Charge counts.
type Measure string

// These are the measures.
const (
	Cost   Measure = "cost"   // nano-dollars
	Tokens Measure = "tokens" // input and output together
	Calls  Measure = "calls"  // one for each call
)

// Charge is the amount that a budget is charged when the job is created. It names the counter
// as quota.Delta does.
type Charge struct {
	Subject  string  `json:"carrier"` // id of a key, workspace, provider, integration or policy
	Entry    string  `json:"entry,omitempty"`
	ValueKey string  `json:"value_key,omitempty"`
	Measure  Measure `json:"measure"`
	Units    int64   `json:"units"`
}

// Delta is the change of a counter when a job is created or ends. It is negative if the job
// was cheaper than its maximum.
type Delta struct {
	Charge
	ChargedAt time.Time // of the charge: a budget that was reset since does not change
}

// Unit is a count of a unit in a price list, for example 8 of "video_seconds".
type Unit struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Job is an open job. The request that created it writes it. Afterwards it is read-only,
// except for Checks and Refused, which belong to the Tracker.
//
//	{"id":"0193…","kind":"batch","upstream_id":"batch_abc","path":"/batches","provider":"openai",…}
type Job struct {
	ID         string `json:"id"`          // UUID v7 of the row, and of the log record that is written at the end
	Kind       Kind   `json:"kind"`        // never empty
	UpstreamID string `json:"upstream_id"` // as callers use it in paths, at most 2048 bytes
	Path       string `json:"path"`        // path below /v1 that reads it: "/batches/batch_abc"
	Proxied    bool   `json:"proxied,omitempty"`
	// Private is set if the caller provided the credential. The credential is in the memory of
	// one node and never stored.
	Private bool `json:"private,omitempty"`

	OrgID       string            `json:"org_id"`
	WorkspaceID string            `json:"workspace_id"`
	KeyID       string            `json:"key_id"`
	KeyName     string            `json:"key_name,omitempty"`
	UserID      string            `json:"user_id,omitempty"`
	RequestID   string            `json:"request_id"`
	TraceID     string            `json:"trace_id"`
	ConfigID    string            `json:"config_id,omitempty"`
	TargetPath  string            `json:"target_path,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`

	Provider   string       `json:"provider"`              // "openai"
	ProviderID string       `json:"provider_id,omitempty"` // slug of a saved provider
	Model      string       `json:"model,omitempty"`       // name in price lists; of a batch with several models the first
	Endpoint   llm.Endpoint `json:"endpoint"`              // of the call that created the job
	Method     string       `json:"method"`
	Shown      string       `json:"shown"` // path of that call in logs
	Region     string       `json:"region,omitempty"`

	Created     time.Time `json:"created"`
	Charged     time.Time `json:"charged"`           // when budgets were charged with the maximum
	MaxCostNano int64     `json:"bound,omitempty"`   // nano-dollars: the maximum cost
	Tokens      int64     `json:"tokens,omitempty"`  // the maximum
	Charges     []Charge  `json:"charges,omitempty"` // of budgets
	Input       *Input    `json:"input,omitempty"`   // of a batch; nil if it was not counted
	Units       []Unit    `json:"units,omitempty"`   // of a video, or of all videos together
	Videos      int64     `json:"videos,omitempty"`  // number requested; 0: one
	Extends     bool      `json:"extends,omitempty"` // the video extends another, whose seconds providers report with its own

	Checks  int  `json:"checks,omitempty"`
	Refused int  `json:"refused,omitempty"` // consecutive checks that the provider rejected
	Settled bool `json:"settled,omitempty"` // budgets are corrected; the log record may be missing
}

// Key returns the key of the job: 64 hexadecimal digits that identify it within a workspace.
func (j *Job) Key() string { return Key(j.WorkspaceID, j.UpstreamID) }

// Key returns the Job.Key for a workspace and the id of a job at the provider.
func Key(workspace, upstreamID string) string {
	hash := sha256.Sum256([]byte(workspace + "\x00" + upstreamID))
	return hex.EncodeToString(hash[:])
}

// maxJobBytes is the maximum size of a stored job.
const maxJobBytes = 256 << 10

// Encode returns the stored form of a job: JSON of at most 256 KiB.
func (j *Job) Encode() ([]byte, error) {
	b, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("encode job %s: %w", j.ID, err)
	}
	if len(b) > maxJobBytes {
		return nil, fmt.Errorf("encode job %s: size %d bytes exceeds the maximum of %d", j.ID, len(b), maxJobBytes)
	}
	return b, nil
}

// Decode is the inverse of Encode.
func Decode(b []byte) (*Job, error) {
	j := new(Job)
	if err := json.Unmarshal(b, j); err != nil {
		return nil, fmt.Errorf("decode job: %w", err)
	}
	return j, nil
}

// Opening returns the changes of counters when the job is created.
func (j *Job) Opening() []Delta {
	list := make([]Delta, len(j.Charges))
	for i, c := range j.Charges {
		list[i] = Delta{Charge: c, ChargedAt: j.Charged}
	}
	return list
}

// deltas returns the corrections of the charges of a job with its actual cost and tokens.
func (j *Job) deltas(cost, tokens int64) (list []Delta) {
	for _, c := range j.Charges {
		switch c.Measure {
		case Cost:
			c.Units = cost - c.Units
		case Tokens:
			c.Units = tokens - c.Units
		case Calls:
			continue
		}
		if c.Units != 0 {
			list = append(list, Delta{Charge: c, ChargedAt: j.Charged})
		}
	}
	return list
}
