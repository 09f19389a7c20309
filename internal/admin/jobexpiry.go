package admin

import (
	"context"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/expiry"
	"sluice/internal/control/outbox"
	"sluice/internal/control/sweep"
	"sluice/internal/credential"
	"sluice/internal/identity"
	"sluice/internal/mail"
	"sluice/internal/record"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// expireProviders records that providers and virtual keys have expired, and notifies people
// once. Requests are rejected from the time of expiry, before this job runs.
func (k deps) expireProviders(ctx context.Context, now time.Time) error {
	err := expire(ctx, k, credential.ProviderKind, now, func(p *credential.Provider) (*time.Time, string) { return p.ExpiresAt, p.Name })
	if err != nil {
		return err
	}
	return expire(ctx, k, credential.VirtualKeyKind, now, func(v *credential.VirtualKey) (*time.Time, string) { return v.ExpiresAt, v.Name })
}

func expire[T any](ctx context.Context, k deps, kind string, now time.Time, readExpiry func(*T) (expires *time.Time, name string)) error {
	checkExpired := func(rec resource.Record) (*time.Time, string, error) { // time of expiry; nil before it
		r, err := resource.Decode[T](rec)
		if err != nil {
			return nil, "", err
		}
		expiry, name := readExpiry(&r.Value)
		if expiry == nil || now.Before(*expiry) || rec.Status != resource.Active && rec.Status != "exhausted" {
			return nil, "", nil
		}
		return expiry, name, nil
	}
	return k.Sweeper.Sweep(ctx, resource.Query{Kind: kind, Statuses: expiry.LiveStatuses}, func(rec resource.Record) error {
		if expiry, _, err := checkExpired(rec); err != nil || expiry == nil {
			return err
		}
		return k.Sweeper.Change(ctx, rec, now, func(tx resource.Tx, rec *resource.Record) (bool, error) {
			expiry, name, err := checkExpired(*rec)
			if err != nil || expiry == nil {
				return false, err
			}
			rec.Status = "expired"
			if err := k.Sweeper.Audit(ctx, tx, *rec, sweep.ActionExpire, now, sweep.TimeNote("expires_at", expiry)); err != nil {
				return false, err
			}
			return true, k.notifyProviderExpiry(ctx, tx, *rec, name, now)
		})
	})
}

func (k deps) notifyProviderExpiry(ctx context.Context, tx resource.Tx, rec resource.Record, name string, now time.Time) error {
	to, err := outbox.LimitRecipients(ctx, tx, rec.OrgID, rec.WorkspaceID)
	if err != nil {
		return err
	}
	org, err := directory.OrganisationName(ctx, tx, rec.OrgID)
	if err != nil {
		return err
	}
	return outbox.Post(ctx, tx, rec.OrgID, now, mail.Message{
		Template: "virtualkey-expired-alert", To: to, Vars: map[string]string{"virtualKeyName": name, "organisationName": org},
	})
}

// expireInvites marks invitations that were not accepted in time. Their links do not work after
// that.
func (k deps) expireInvites(ctx context.Context, now time.Time) error {
	checkExpired := func(rec resource.Record) (*resource.Row[tenant.Invite], bool, error) {
		r, err := resource.Decode[tenant.Invite](rec)
		if err != nil {
			return nil, false, err
		}
		return r, rec.Status == tenant.InvitePending && r.Value.StatusAt(rec.Status, now) == tenant.InviteExpired, nil
	}
	return k.Sweeper.Sweep(ctx, resource.Query{Kind: tenant.InviteKind, Statuses: []string{tenant.InvitePending}}, func(rec resource.Record) error {
		if _, is, err := checkExpired(rec); err != nil || !is {
			return err
		}
		return k.Sweeper.Change(ctx, rec, now, func(tx resource.Tx, rec *resource.Record) (bool, error) {
			r, is, err := checkExpired(*rec)
			if err != nil || !is {
				return false, err
			}
			rec.Status, rec.Index = tenant.InviteExpired, inviteEntries(&r.Value, "")
			return true, k.Sweeper.Audit(ctx, tx, *rec, sweep.ActionExpire, now, sweep.TimeNote("expires_at", &r.Value.ExpiresAt))
		})
	})
}

// dropSessions deletes expired sessions.
func (k deps) dropSessions(ctx context.Context, now time.Time) error {
	return k.Sweeper.Sweep(ctx, resource.Query{Kind: identity.SessionKind}, func(rec resource.Record) error {
		r, err := resource.Decode[identity.Session](rec)
		if err != nil || rec.Status == resource.Active && r.Value.Check(now, 0) == nil {
			return err
		}
		return k.Sweeper.Drop(ctx, rec)
	})
}

// purgeOutbox deletes mails mail.Retention after their last change: the end of their delivery
// or, without a mail server, their creation. It does not delete a mail that is being sent.
func (k deps) purgeOutbox(ctx context.Context, now time.Time) error {
	return k.Sweeper.Sweep(ctx, resource.Query{Kind: mail.Kind}, func(rec resource.Record) error {
		if rec.Status == mail.Sending || now.Sub(rec.Updated) < mail.Retention {
			return nil
		}
		return k.Sweeper.Drop(ctx, rec)
	})
}

// purgeFeedback deletes feedback that is older than the statistics of any trace that it may
// rate. If statistics are stored forever, so is feedback.
func (k deps) purgeFeedback(ctx context.Context, now time.Time) error {
	days := k.LogRetention.Metrics
	if days == nil {
		return nil
	}
	oldest := now.AddDate(0, 0, -*days)
	for {
		rows, err := k.Store.List(ctx, resource.Query{Kind: record.FeedbackKind, Limit: sweep.PageSize, Bare: true}) // oldest first
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, rec := range rows {
			if !rec.Created.Before(oldest) {
				return nil
			}
			if err := k.Sweeper.Drop(ctx, rec); err != nil {
				return err
			}
		}
	}
}
