package sweep

import (
	"context"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/limits/quota"
)

// AuditFeature is the feature flag that disables the audit trail when it is off.
const AuditFeature = "AUDIT_LOGS_ENABLED"

// auditedAs are the resource types of the audit trail, by the kinds of record that scheduled
// jobs change.
// Source: contract/identity-and-governance.yaml, audit_resource_types.
var auditedAs = map[string]string{
	keys.Kind:                  "api_keys",
	credential.ProviderKind:    "providers",
	credential.VirtualKeyKind:  "virtual_keys",
	tenant.InviteKind:          "user_invites",
	tenant.WorkspaceKind:       "workspaces",
	quota.UsageLimitKind:       "policies",
	quota.IntegrationWorkspace: "integrations",
}

// Audit actions of scheduled jobs.
// Source: contract/identity-and-governance.yaml, audit_actions; ours are expire, exhaust,
// relieve and end_transition.
const (
	ActionExpire        = "expire"
	ActionExhaust       = "exhaust"
	ActionRelieve       = "relieve"
	ActionEndTransition = "end_transition"
	ActionReset         = "reset"
	ActionRotate        = "rotate"
	ActionCross         = "threshold_crossed"
	ActionUpdate        = "update"
)

// Audit adds a scheduled change of a record to the audit trail, in the transaction of the
// change. The actor is the gateway. notes are facts without secrets.
func (k Sweeper) Audit(ctx context.Context, tx resource.Tx, rec resource.Record, deed string, now time.Time, notes map[string]any) error {
	body, err := resource.AuditDetails{Notes: notes}.Body()
	if err != nil {
		return err
	}
	return k.trail().Audit(ctx, tx, resource.AuditRow{
		OrgID: rec.OrgID, WorkspaceID: rec.WorkspaceID, Kind: auditedAs[rec.Kind], Action: deed, TargetID: rec.ID, CreatedAt: now, Body: body,
	})
}

// TimeNote returns the note for a time that has passed, under the name of its field.
func TimeNote(field string, when *time.Time) map[string]any {
	return map[string]any{field: resource.Stamp(*when).String()}
}
