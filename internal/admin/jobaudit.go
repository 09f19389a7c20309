package admin

import (
	"context"
	"time"

	"sluice/internal/quota"
	"sluice/internal/resource"
)

// onMeter does the same for a budget, with its usage at that time. The head meter of a policy
// does not count usage.
func (k deps) onMeter(ctx context.Context, tx resource.Tx, m *quota.Meter, subject *budgetSubject, deed string, now time.Time, notes map[string]any) error {
	notes["credit_limit"] = subject.budget.CreditLimit.String()
	if m.BudgetKey != "" {
		notes["current_usage"] = subject.budget.Measure.Text(m.Used)
	}
	rec := resource.Record{Kind: m.Kind, ID: m.ID, OrgID: m.OrgID, WorkspaceID: m.WorkspaceID}
	return k.Sweeper.Audit(ctx, tx, rec, deed, now, notes)
}
