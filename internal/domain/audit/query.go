package audit

import "time"

// Query selects rows of one organisation by what an administrator may ask for. Empty
// fields select everything. The newest row comes first.
// Source: contract/identity-and-governance.yaml, GET /audit-logs.
type Query struct {
	OrgID       string
	From, To    time.Time // From is inclusive, To exclusive; the zero time sets no limit
	Method      string    // "PUT"
	URI         string    // part of the path, in any case
	Search      string    // part of the path, the action or the type of what was acted on, in any case
	RequestID   string
	ActorID     string
	ActorKind   string // "api_key"
	WorkspaceID string
	Status      int // 0 for any
	Resource    string
	Action      string
	ClientIP    string
	Limit       int // 1 to 1000; 0 means 100
	Offset      int
}

// Head is where the trail of an organisation stands.
type Head struct {
	OrgID string
	Seq   int64  // of the last row
	Hash  string // of it
	First int64  // first row that is kept
	// Signed is the last checkpoint, the zero Checkpoint when there is none. It may
	// have no more than its Number, Seq, Hash and Timestamp.
	Signed Checkpoint
}
