package admin

import (
	"context"
	"time"

	"sluice/internal/credential"
	"sluice/internal/keys"
	"sluice/internal/quota"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

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
	deedExpire        = "expire"
	deedExhaust       = "exhaust"
	deedRelieve       = "relieve"
	deedEndTransition = "end_transition"
	deedReset         = "reset"
	deedRotate        = "rotate"
	deedCross         = "threshold_crossed"
	deedUpdate        = "update"
)

// onRecord adds a scheduled change of a record to the audit trail, in the transaction of the
// change. The actor is the gateway. notes are facts without secrets.
func (k deps) onRecord(ctx context.Context, tx resource.Tx, rec resource.Record, deed string, now time.Time, notes map[string]any) error {
	body, err := resource.AuditDetails{Notes: notes}.Body()
	if err != nil {
		return err
	}
	return k.trail().Audit(ctx, tx, resource.AuditRow{
		OrgID: rec.OrgID, WorkspaceID: rec.WorkspaceID, Kind: auditedAs[rec.Kind], Action: deed, TargetID: rec.ID, CreatedAt: now, Body: body,
	})
}

// onMeter does the same for a budget, with its usage at that time. The head meter of a policy
// does not count usage.
func (k deps) onMeter(ctx context.Context, tx resource.Tx, m *quota.Meter, subject *budgetSubject, deed string, now time.Time, notes map[string]any) error {
	notes["credit_limit"] = subject.budget.CreditLimit.String()
	if m.BudgetKey != "" {
		notes["current_usage"] = subject.budget.Measure.Text(m.Used)
	}
	rec := resource.Record{Kind: m.Kind, ID: m.ID, OrgID: m.OrgID, WorkspaceID: m.WorkspaceID}
	return k.onRecord(ctx, tx, rec, deed, now, notes)
}

// timeNote returns the note for a time that has passed, under the name of its field.
func timeNote(field string, when *time.Time) map[string]any {
	return map[string]any{field: resource.Stamp(*when).String()}
}
