package resource

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Stamp is a time as responses show it: UTC with milliseconds, for example
// "2026-11-20T10:00:00.000Z".
// Source: contract/identity-and-governance.yaml, conventions.timestamps.
type Stamp time.Time

// StampOf returns the Stamp of a time; nil for a nil or zero time.
func StampOf(t *time.Time) *Stamp {
	if t == nil || t.IsZero() {
		return nil
	}
	s := Stamp(*t)
	return &s
}

// stampLayout is the wire format.
const stampLayout = "2006-01-02T15:04:05.000Z"

// String returns the wire format.
func (s Stamp) String() string { return time.Time(s).UTC().Format(stampLayout) }

// MarshalJSON writes the wire format.
func (s Stamp) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, len(stampLayout)+2), '"')
	return append(time.Time(s).UTC().AppendFormat(b, stampLayout), '"'), nil
}

// Schema describes a Stamp in the published description.
func (Stamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "string", Format: "date-time"}
}
