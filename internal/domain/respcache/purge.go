package respcache

import (
	"encoding/json"
	"fmt"
	"time"
)

// PurgeKind is the kind of the records of purges. Each node reads them, so that a purge reaches all.
const PurgeKind = "cache_purge"

// Limits of the recorded purges of an organisation.
const (
	MaxAge    = 90 * 24 * time.Hour // after which a purge selects nothing: no response is older. Source: contract/dataplane.md 4.7
	MaxPurges = 500                 // more are replaced by one of everything in the organisation
)

// Purge is a filter that was applied at a time. It selects no response that was stored later.
type Purge struct {
	ID     string // of its record
	Filter Filter
	At     time.Time
}

// Until returns the time before which the purge selects responses.
func (p *Purge) Until() time.Time {
	if b := p.Filter.Before; !b.IsZero() && b.Before(p.At) {
		return b
	}
	return p.At
}

// storedPurge is the body of a record: the filter without the organisation and the workspace, which are
// those of the record.
type storedPurge struct {
	Key       string    `json:"cache_key,omitempty"`
	APIKey    string    `json:"api_key_id,omitempty"`
	Namespace string    `json:"namespace,omitempty"`
	Config    string    `json:"config,omitempty"`
	Model     string    `json:"model,omitempty"`
	Before    time.Time `json:"before,omitzero"`
	At        time.Time `json:"at"`
}

// Body returns the body of the purge's record.
func (p *Purge) Body() ([]byte, error) {
	f := &p.Filter
	return json.Marshal(storedPurge{f.Key, f.APIKey, f.Namespace, f.Config, f.Model, f.Before, p.At})
}

// DecodePurge reads the body of a record of an organisation and a workspace, which may be empty.
func DecodePurge(id, organisation, workspace string, body []byte) (*Purge, error) {
	var s storedPurge
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, fmt.Errorf("read purge %s: %w", id, err)
	}
	return &Purge{ID: id, At: s.At, Filter: Filter{
		Organisation: organisation, Workspace: workspace, Key: s.Key, APIKey: s.APIKey, Namespace: s.Namespace, Config: s.Config, Model: s.Model, Before: s.Before,
	}}, nil
}
