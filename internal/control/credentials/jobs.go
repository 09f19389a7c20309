package credentials

import (
	"context"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/expiry"
	"sluice/internal/control/outbox"
	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/mail"
)

// expireProviders records that providers and virtual keys have expired, and notifies people
// once. Requests are rejected from the time of expiry, before this job runs.
func (k scheduledJobs) expireProviders(ctx context.Context, now time.Time) error {
	err := expire(ctx, k.Deps, credential.ProviderKind, now, func(p *credential.Provider) (*time.Time, string) { return p.ExpiresAt, p.Name })
	if err != nil {
		return err
	}
	return expire(ctx, k.Deps, credential.VirtualKeyKind, now, func(v *credential.VirtualKey) (*time.Time, string) { return v.ExpiresAt, v.Name })
}

func expire[T any](ctx context.Context, k Deps, kind string, now time.Time, readExpiry func(*T) (expires *time.Time, name string)) error {
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
			return true, notifyProviderExpiry(ctx, tx, *rec, name, now)
		})
	})
}

func notifyProviderExpiry(ctx context.Context, tx resource.Tx, rec resource.Record, name string, now time.Time) error {
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
