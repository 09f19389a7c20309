package limits

import (
	"context"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/outbox"
	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/tenant"
	"sluice/internal/limits/quota"
)

// isExhaustedByBudget reports whether the records of a kind are exhausted together with their
// budget. A workspace, a policy or an integration has several budgets or counters, each of which
// is exhausted separately.
func isExhaustedByBudget(kind string) bool {
	return kind == keys.Kind || kind == credential.ProviderKind || kind == credential.VirtualKeyKind
}

// notifyBudget reports that a budget has reached its "threshold" or is "exhausted". It sends a
// mail; for a policy it only writes to the audit trail.
// Source: contract/identity-and-governance.yaml, emails.
func (k scheduledJobs) notifyBudget(ctx context.Context, tx resource.Tx, m *quota.Meter, subject *budgetSubject, what string, now time.Time) error {
	if m.Kind == quota.UsageLimitKind {
		return k.auditCrossing(ctx, tx, m, subject, what, now)
	}
	org, err := directory.OrganisationName(ctx, tx, m.OrgID)
	if err != nil {
		return err
	}
	to, err := outbox.LimitRecipients(ctx, tx, m.OrgID, m.WorkspaceID)
	if err != nil {
		return err
	}
	vars := map[string]string{"organisationName": org, "creditLimit": amountText(subject.budget, &subject.budget.CreditLimit)}
	if what == "threshold" {
		vars["creditThreshold"] = amountText(subject.budget, subject.budget.AlertThreshold)
	}
	stem := "virtualkey"
	switch m.Kind {
	case keys.Kind:
		stem = "apikey"
		r, err := resource.Decode[keys.Key](subject.rec)
		if err != nil {
			return err
		}
		if to, err = outbox.KeyRecipients(ctx, tx, r); err != nil {
			return err
		}
		user, err := directory.CurrentUser(ctx, tx, r.Value.UserID)
		if err != nil {
			return err
		}
		vars["userName"], vars["apiKeyType"], vars["apiKey"] = directory.FullName(user), outbox.KeyTypes[r.Value.Type], r.Value.Secret.Masked
	case tenant.WorkspaceKind:
		stem = "entity"
		vars["entityType"], vars["entityName"], vars["entityKey"] = "workspace", subject.rec.Name, subject.rec.ShownSlug()
		vars["entityUrl"] = k.ConsoleURL + "/workspaces/" + subject.rec.ShownSlug()
	case quota.IntegrationWorkspace:
		stem = "entity"
		workspace, err := tx.Find(ctx, tenant.WorkspaceKind, m.WorkspaceID)
		if err != nil {
			return err
		}
		vars["entityType"], vars["entityName"], vars["entityKey"] = "integration", subject.rec.Name+" in "+workspace.Name, subject.rec.ShownSlug()
		vars["entityUrl"] = k.ConsoleURL + "/integrations/" + subject.rec.ShownSlug()
	default:
		vars["virtualKeyName"] = subject.rec.Name
	}
	return outbox.Post(ctx, tx, m.OrgID, now, mail.Message{Template: stem + "-usage-" + what + "-alert", To: to, Vars: vars})
}

// amountText returns an amount for people: "25.5 USD".
func amountText(b *quota.Budget, a *quota.Amount) string {
	if a == nil {
		return ""
	}
	if b.Measure == quota.Cost {
		return a.String() + " USD"
	}
	return a.String() + " " + string(b.Measure)
}

func (k scheduledJobs) auditCrossing(ctx context.Context, tx resource.Tx, m *quota.Meter, subject *budgetSubject, what string, now time.Time) error {
	notes := map[string]any{"crossed": what, "value_key": m.ValueKey}
	if subject.budget.AlertThreshold != nil {
		notes["alert_threshold"] = subject.budget.AlertThreshold.String()
	}
	return budgetJobs(k).onMeter(ctx, tx, m, subject, sweep.ActionCross, now, notes)
}

// onMeter changes a budget and adds an audit row, as Sweeper.Audit does for a record, with its usage at that time. The head meter of a policy
// does not count usage.
func (k budgetJobs) onMeter(ctx context.Context, tx resource.Tx, m *quota.Meter, subject *budgetSubject, deed string, now time.Time, notes map[string]any) error {
	notes["credit_limit"] = subject.budget.CreditLimit.String()
	if m.BudgetKey != "" {
		notes["current_usage"] = subject.budget.Measure.Text(m.Used)
	}
	rec := resource.Record{Kind: m.Kind, ID: m.ID, OrgID: m.OrgID, WorkspaceID: m.WorkspaceID}
	return k.Sweeper.Audit(ctx, tx, rec, deed, now, notes)
}
