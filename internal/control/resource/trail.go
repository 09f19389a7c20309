package resource

import (
	"cmp"
	"context"
	"encoding/json"

	"sluice/internal/kernel/ident"
)

// Actor kinds in the audit trail: the holder of an API key, a user, and the gateway.
// Source: contract/identity-and-governance.yaml, AuditRecord.user_type; ActorSystem is ours.
const (
	ActorKey    = "api_key"
	ActorUser   = "user"
	ActorSystem = "system"
)

// AuditDetails is the body of an audit row: everything that is not in its columns. Readers see
// all of it, so it must not contain a secret.
type AuditDetails struct {
	Query   map[string]string `json:"query,omitempty"`   // parameters, secrets masked
	Headers map[string]string `json:"headers,omitempty"` // the audited ones, credentials masked
	Request json.RawMessage   `json:"request,omitempty"` // body, secrets masked
	Notes   map[string]any    `json:"notes,omitempty"`   // further facts: "rotation_mode": "auto"
	Error   string            `json:"error,omitempty"`   // public text of the error
}

// Body returns the stored form of the details.
func (d AuditDetails) Body() ([]byte, error) { return json.Marshal(d) }

// Auditor adds events outside administrative calls to the audit trail: a login, a failed token,
// a key that was rotated automatically, a threshold that was crossed. Trail implements it.
//
//	err := sqlstore.InTx(ctx, func(tx resource.Tx) error {
//		// … the change itself, if there is one …
//		return trail.Audit(ctx, tx, resource.AuditRow{
//			OrgID: org, Kind: "api_keys", Action: "rotate", TargetID: key.ID,
//			Body: body, // of AuditDetails
//		})
//	})
type Auditor interface {
	// Audit adds a row in the transaction of the change that it records.
	Audit(ctx context.Context, tx Tx, row AuditRow) error
}

var _ Auditor = Trail{}

// Trail adds rows to the audit trail unless it is disabled. It is safe for concurrent use.
type Trail struct {
	Off   bool // AUDIT_LOGS_ENABLED=OFF: nothing is written
	Clock ident.Clock
}

// Audit adds a row. OrgID, Kind (one of the resource types of the contract) and Action must be
// set. An empty ID is generated, and a zero CreatedAt is now. An empty RequestID means that no
// request caused the event. An empty ActorKind means ActorSystem, and a zero Status means 200,
// success. A Body beyond the limit of the store is fault.TooLarge; other errors are those of the
// store.
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
