package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"time"

	"sluice/internal/kernel/fault"
)

// FeedbackKind is the kind of the stored records of feedback.
const FeedbackKind = "feedback"

// Limits of feedback. Source: contract/content-and-observability.yaml, FeedbackBody;
// those of the trace and the metadata are ours.
const (
	MaxFeedback         = 10 // value, positive or negative
	MaxTraceID          = 256
	MaxFeedbackMetadata = 8 << 10 // bytes of JSON
)

// Feedback is a rating of a trace, that is of the result of a request. A trace may have
// several.
// Source: contract/content-and-observability.md section 4.
type Feedback struct {
	TraceID  string          `json:"trace_id"` // as the caller of the request knows it, up to MaxTraceID bytes
	Value    int             `json:"value"`    // -10 to 10
	Weight   float64         `json:"weight"`   // 0 to 1
	Metadata json.RawMessage `json:"metadata,omitempty"`
	KeyID    string          `json:"key_id,omitempty"` // of the key that sent it
	UserID   string          `json:"user_id,omitempty"`
}

// TraceFeedback is feedback as stored in the log next to the attempts of its trace, which are
// those of the same workspace with the same TraceID.
type TraceFeedback struct {
	ID          string // UUID
	OrgID       string
	WorkspaceID string
	TraceID     string
	Value       int
	Weight      float64
	Created     time.Time
}

// Weighted works like Feedback.Weighted.
func (f *TraceFeedback) Weighted() float64 { return float64(f.Value) * f.Weight }

// Weighted returns the value that averages use: 8 with weight 0.5 counts 4.
func (f *Feedback) Weighted() float64 { return float64(f.Value) * f.Weight }

// Validate rejects values out of range with fault.InvalidParameter for the field. Metadata may
// be the JSON text of an object; Validate replaces it with the object.
func (f *Feedback) Validate() error {
	switch {
	case f.TraceID == "" || len(f.TraceID) > MaxTraceID:
		return fault.Newf(fault.InvalidParameter, "must be a string of 1 to %d bytes", MaxTraceID).WithParam("trace_id")
	case f.Value < -MaxFeedback || f.Value > MaxFeedback:
		return fault.Newf(fault.InvalidParameter, "must be an integer from -%d to %d", MaxFeedback, MaxFeedback).WithParam("value")
	case math.IsNaN(f.Weight) || f.Weight < 0 || f.Weight > 1:
		return fault.New(fault.InvalidParameter, "must be a number from 0 to 1").WithParam("weight")
	}
	return f.readMetadata()
}

func (f *Feedback) readMetadata() error {
	raw := bytes.TrimSpace(f.Metadata)
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	f.Metadata = nil
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return fault.New(fault.InvalidParameter, "must be an object, or the JSON text of one").WithParam("metadata")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil || compact.Len() > MaxFeedbackMetadata {
		return fault.Newf(fault.InvalidParameter, "must not exceed %d bytes", MaxFeedbackMetadata).WithParam("metadata")
	}
	f.Metadata = compact.Bytes()
	return nil
}

// TraceEntry returns the form of a trace id by which feedback is found: the id, or a hash of
// it if it is too long for an index.
func TraceEntry(traceID string) string {
	const indexed = 255
	if len(traceID) <= indexed {
		return traceID
	}
	sum := sha256.Sum256([]byte(traceID))
	return hex.EncodeToString(sum[:])
}
