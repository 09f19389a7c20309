package resource

import (
	"cmp"
	"context"
	"encoding/json"

	"sluice/internal/ident"
)

// The kinds of actor in the audit trail: the holder of an API key, a user, and the
// gateway itself.
// Source: contract/identity-and-governance.yaml, AuditRecord.user_type; ActorSystem
// is ours.
const (
	ActorKey    = "api_key"
	ActorUser   = "user"
	ActorSystem = "system"
)

// AuditDetails is the body of an audit row: what does not stand in its columns. All
// of it is for readers: nothing in it may be a secret.
type AuditDetails struct {
	Query   map[string]string `json:"query,omitempty"`   // parameters, secrets masked
	Headers map[string]string `json:"headers,omitempty"` // the few that are kept, credentials masked
	Request json.RawMessage   `json:"request,omitempty"` // body, secrets masked
	Notes   map[string]any    `json:"notes,omitempty"`   // further facts: "rotation_mode": "auto"
	Error   string            `json:"error,omitempty"`   // public text of the refusal
}

// Body is the form in which the details are kept.
func (d AuditDetails) Body() ([]byte, error) { return json.Marshal(d) }

// Auditor takes what happened outside a call of the administration into the audit
// trail: a login, a token that failed, a key that was rotated by itself, a threshold
// that was crossed. Trail is it.
//
//	err := store.InTx(ctx, func(tx resource.Tx) error {
//		// … the change itself, if there is one …
//		return trail.Audit(ctx, tx, resource.AuditRow{
//			OrgID: org, Kind: "api_keys", Action: "rotate", TargetID: key.ID,
//			Body: body, // of AuditDetails
//		})
//	})
type Auditor interface {
	// Audit adds a row in the transaction of the change that it tells of.
	Audit(ctx context.Context, tx Tx, row AuditRow) error
}

var _ Auditor = Trail{}

// Trail adds rows to the audit trail unless it is switched off. Safe for concurrent use.
type Trail struct {
	Off   bool // AUDIT_LOGS_ENABLED=OFF: nothing is written
	Clock ident.Clock
}

// Audit adds a row. OrgID, Kind (one of the resource types of the contract) and Action
// must be set. An empty ID is made up, a zero At is now, an empty RequestID stands for
// an event that no request caused, and an empty ActorKind for ActorSystem; the status
// of what succeeded is 200. The row is refused with fault.TooLarge when its Body is
// beyond the limit of the store; other errors are those of the store.
func (t Trail) Audit(ctx context.Context, tx Tx, row AuditRow) error {
	if t.Off {
		return nil
	}
	row.ID = cmp.Or(row.ID, ident.NewID())
	row.ActorKind = cmp.Or(row.ActorKind, ActorSystem)
	row.Status = cmp.Or(row.Status, 200)
	if row.CreatedAt.IsZero() {
		row.CreatedAt = t.Clock.Now()
	}
	if len(row.Body) == 0 {
		row.Body = []byte("{}")
	}
	return tx.Audit(ctx, row)
}
