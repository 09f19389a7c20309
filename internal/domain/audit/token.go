package audit

import "time"

// RefusedToken is a call whose credential is a JWT that was not accepted. Whose it is
// nobody knows: what stands in it was not verified, so nothing of it is kept.
// Source: contract/identity-and-governance.md, the audit trail ("plus: JWT failures").
type RefusedToken struct {
	RefusedAt time.Time
	Remote    string // address of the caller without port
	Method    string // "POST"
	Path      string // without the query, secrets masked: "/v1/chat/completions"
	RequestID string // empty where the call has none yet
	Reason    string // public text of the refusal
}
