package apikeys

import (
	"context"
	"slices"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/expiry"
	"sluice/internal/control/outbox"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
)

// runDueKeySteps runs the due steps of keys: it ends values after their transition, expires
// keys, rotates them, and warns about coming steps.
// Source: contract/identity-and-governance.md section 5.
func (k scheduledJobs) runDueKeySteps(ctx context.Context, now time.Time) error {
	q := resource.Query{Kind: keys.Kind, Statuses: append([]string{"expired"}, expiry.LiveStatuses...), Index: []resource.IndexEntry{{Name: timedEntry, Value: "1"}}}
	return k.Sweeper.Sweep(ctx, q, func(rec resource.Record) error {
		r, err := resource.Decode[keys.Key](rec)
		if err != nil || len(r.Value.Due(r.Status, now)) == 0 {
			return err
		}
		return k.Sweeper.Change(ctx, rec, now, func(tx resource.Tx, rec *resource.Record) (bool, error) { return k.ageKey(ctx, tx, rec, now) })
	})
}

// ageKey runs the due steps of one key.
func (k scheduledJobs) ageKey(ctx context.Context, tx resource.Tx, rec *resource.Record, now time.Time) (bool, error) {
	ch, err := editOf[keys.Key](*rec)
	if err != nil {
		return false, err
	}
	steps := ch.Old.Value.Due(rec.Status, now)
	do := map[keys.Step]func() error{
		keys.EndPrevious: func() error {
			previous := ch.New.Value.Previous
			ch.New.Value.Previous = nil
			notes := sweep.TimeNote("transition_expires_at", previous.Until)
			notes["old_key_masked"] = previous.Masked
			return k.Sweeper.Audit(ctx, tx, *rec, sweep.ActionEndTransition, now, notes)
		},
		keys.Expire: func() error {
			ch.New.Status = "expired"
			if err := k.Sweeper.Audit(ctx, tx, *rec, sweep.ActionExpire, now, sweep.TimeNote("expires_at", ch.New.Value.ExpiresAt)); err != nil {
				return err
			}
			return notifyKeyOwner(ctx, tx, ch.New, "apikey-expired-alert", outbox.KeyRecipients, now)
		},
		keys.Rotate: func() error { return k.rotateAutomatically(ctx, tx, ch, now) },
		keys.WarnTransitionEnd: func() error {
			ch.New.Value.Previous.Warned = true
			return notifyKeyOwner(ctx, tx, ch.New, "apikey-transition-expiring", outbox.RotationRecipients, now)
		},
		keys.WarnRotation: func() error {
			ch.New.Value.WarnedOf = ch.New.Value.Rotation.Next
			return notifyKeyOwner(ctx, tx, ch.New, "apikey-rotation-upcoming", outbox.RotationRecipients, now)
		},
	}
	for _, step := range steps {
		if err := do[step](); err != nil {
			return false, err
		}
	}
	rec.Status = ch.New.Status
	updateKeyRecord(rec, &ch.New.Value)
	return len(steps) > 0, nil
}

// editOf returns a record before and after a change, without shared memory.
func editOf[T any](rec resource.Record) (*resource.Edit[T], error) {
	before, err := resource.Decode[T](rec)
	if err != nil {
		return nil, err
	}
	after, err := resource.Decode[T](rec)
	return &resource.Edit[T]{Old: before, New: after}, err
}

// updateKeyRecord encodes a key into its record. The references in the index do not change.
func updateKeyRecord(rec *resource.Record, key *keys.Key) {
	entries := KeyIndex(key)
	for _, e := range rec.Index {
		if !slices.Contains([]string{"type", directory.UserEntry, timedEntry, "hash"}, e.Name) {
			entries = append(entries, e)
		}
	}
	rec.Body, rec.Index = jsonfield.Encode(key), entries
}

// rotateAutomatically rotates a key as its policy requires. Nothing shows the new value here;
// users with permission read it in a session.
func (k scheduledJobs) rotateAutomatically(ctx context.Context, tx resource.Tx, ch *resource.Edit[keys.Key], now time.Time) error {
	if _, err := apiKeys(k).rotateSecret(ch, now, ch.Old.Value.Rotation.Transition()); err != nil {
		return err
	}
	ch.New.Value.AutoRotated = true
	if err := k.Sweeper.Audit(ctx, tx, ch.New.Record, sweep.ActionRotate, now, rotationNotes(ch, "auto")); err != nil {
		return err
	}
	return notifyKeyOwner(ctx, tx, ch.New, "apikey-rotated", outbox.RotationRecipients, now)
}

// notifyKeyOwner adds a mail about a key to the outbox.
func notifyKeyOwner(
	ctx context.Context, tx resource.Tx, r *resource.Row[keys.Key], template string,
	recipients func(context.Context, resource.Reader, *resource.Row[keys.Key]) ([]string, error), now time.Time,
) error {
	to, err := recipients(ctx, tx, r)
	if err != nil {
		return err
	}
	org, err := directory.OrganisationName(ctx, tx, r.OrgID)
	if err != nil {
		return err
	}
	user, err := directory.CurrentUser(ctx, tx, r.Value.UserID)
	if err != nil {
		return err
	}
	key := &r.Value
	vars := map[string]string{
		"userName": directory.FullName(user), "apiKeyName": key.Name, "apiKeyType": outbox.KeyTypes[key.Type], "apiKey": key.Secret.Masked, "organisationName": org,
	}
	if key.Previous != nil {
		vars["transitionExpiresAt"] = outbox.FormatTime(key.Previous.Until)
	}
	if key.Rotation != nil {
		vars["nextRotationAt"] = outbox.FormatTime(key.Rotation.Next)
	}
	return outbox.Post(ctx, tx, r.OrgID, now, mail.Message{Template: template, To: to, Vars: vars})
}

// enforceRotationPeriods applies the rotation period of every workspace to its user keys, and
// removes the policies that it forced before.
// Source: contract/identity-and-governance.md section 4.
func (k scheduledJobs) enforceRotationPeriods(ctx context.Context, now time.Time) error {
	return k.Sweeper.EachWorkspace(ctx, func(workspace resource.Record, s tenant.Settings) error {
		q := resource.Query{
			Kind: keys.Kind, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Statuses: expiry.LiveStatuses,
			Index: []resource.IndexEntry{{Name: "type", Value: string(access.WorkspaceUser)}},
		}
		days := *s.KeyRotationDays
		if days == 0 {
			q.Index = append(q.Index, resource.IndexEntry{Name: timedEntry, Value: "1"})
		}
		return k.Sweeper.Sweep(ctx, q, func(rec resource.Record) error {
			r, err := resource.Decode[keys.Key](rec)
			if err != nil || !r.Value.Rotation.Conflicts(days) {
				return err
			}
			return k.Sweeper.Change(ctx, rec, now, func(tx resource.Tx, rec *resource.Record) (bool, error) {
				r, err := resource.Decode[keys.Key](*rec)
				if err != nil || !r.Value.Rotation.Conflicts(days) {
					return false, err
				}
				if r.Value.Rotation, err = r.Value.Rotation.WithForcedPeriod(days, now); err != nil {
					return false, err
				}
				updateKeyRecord(rec, &r.Value)
				return true, k.Sweeper.Audit(ctx, tx, *rec, sweep.ActionUpdate, now, map[string]any{"user_api_key_rotation_period": days})
			})
		})
	})
}
