package people

import (
	"context"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/tenant"
)

// expireInvites marks invitations that were not accepted in time. Their links do not work after
// that.
func (k scheduledJobs) expireInvites(ctx context.Context, now time.Time) error {
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
func (k scheduledJobs) dropSessions(ctx context.Context, now time.Time) error {
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
func (k scheduledJobs) purgeOutbox(ctx context.Context, now time.Time) error {
	return k.Sweeper.Sweep(ctx, resource.Query{Kind: mail.Kind}, func(rec resource.Record) error {
		if rec.Status == mail.Sending || now.Sub(rec.Updated) < mail.Retention {
			return nil
		}
		return k.Sweeper.Drop(ctx, rec)
	})
}
