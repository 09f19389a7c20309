package audit

import "time"

// Row is one action in the trail of an organisation, for example a PUT that changed
// a config. The JSON names are those of an export; the order of the fields is that of
// the canonical encoding, after Seq, Prev and Hash.
// Source: contract/identity-and-governance.yaml, AuditRecord; ours are the chain, the
// id, target_id and details.
type Row struct {
	Seq  int64  `json:"seq"`  // 1 for the first row of an organisation; 0 for one outside the chain
	Prev string `json:"prev"` // Hash of the row before; Genesis for the first
	Hash string `json:"hash"` // 64 hexadecimal digits

	OrgID       string `json:"organisation_id"`
	ID          string `json:"id"`        // UUID v7
	Timestamp   string `json:"timestamp"` // when the call came in: "2026-11-20T10:00:00.000Z"
	ActorKind   string `json:"user_type"` // "user", "api_key" or "system"
	ActorID     string `json:"user_id"`   // of the user or key
	WorkspaceID string `json:"workspace_id"`
	Resource    string `json:"resource_type"` // "configs"
	Action      string `json:"action"`        // "update"
	TargetID    string `json:"target_id"`     // record that was acted on
	Method      string `json:"method"`        // "PUT"
	URI         string `json:"uri"`           // path without query: "/v1/configs/pc-main"
	Status      int    `json:"response_status_code"`
	RequestID   string `json:"request_id"`
	ClientIP    string `json:"client_ip"`
	Details     string `json:"details"` // text of a JSON object: query, headers, request, notes, error
}

// Time is the time of the row; the zero time when Timestamp is none.
func (r *Row) Time() time.Time {
	t, _ := time.Parse(stampForm, r.Timestamp)
	return t
}

// Canonical is what the hash of the row is taken over, besides the hash before it.
// The layout is versioned by its first field and described in docs/audit.md.
func (r *Row) Canonical() []byte {
	c := make(canon, 0, 512+len(r.Details))
	c.text(rowForm, r.OrgID)
	c.number(r.Seq)
	c.text(r.ID, r.Timestamp, r.ActorKind, r.ActorID, r.WorkspaceID, r.Resource, r.Action, r.TargetID, r.Method, r.URI)
	c.number(int64(r.Status))
	c.text(r.RequestID, r.ClientIP, r.Details)
	return c
}

// Chain puts the row after another one: it sets Seq, Prev and Hash. seq and prev
// are those of the row before; 0 and Genesis begin a trail. The other fields must not
// change any more.
func (r *Row) Chain(seq int64, prev string) {
	r.Seq, r.Prev = seq+1, prev
	sum, _ := parseHash(prev) // the verifier finds a value that is not a hash
	r.Hash = link(sum, r.Canonical())
}

// VerifyHash reports whether Hash is that of the row's bytes and Prev.
func (r *Row) VerifyHash() bool {
	sum, ok := parseHash(r.Prev)
	return ok && r.Hash == link(sum, r.Canonical())
}

// Stamp is a time in the form of Row.Timestamp, "" for the zero time.
func Stamp(t time.Time) string { return stamp(t) }
