package apikeys

import (
	"context"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

const rotationField = "rotation_policy"

// rotationPolicyIn is a rotation policy in bodies; it replaces the present one.
type rotationPolicyIn struct {
	Period     *string    `json:"rotation_period,omitempty" nullable:"true" enum:"weekly,monthly" doc:"Rotation on Mondays or the first of the month, at 00:00 UTC"`
	Days       *int       `json:"rotation_period_days,omitempty" nullable:"true" minimum:"1" maximum:"365" doc:"Alternative to rotation_period"`
	Next       *time.Time `json:"next_rotation_at,omitempty" nullable:"true" doc:"Time of the next rotation, in the future; moved to 00:00 UTC"`
	Transition *int64     `json:"key_transition_period_ms,omitempty" nullable:"true" minimum:"1800000" maximum:"31536000000" default:"1800000" doc:"Milliseconds for which the old value stays valid; less than the rotation period"`
}

// rotationPolicyView is a rotation policy as clients see it.
type rotationPolicyView struct {
	Period     *string         `json:"rotation_period" nullable:"true" enum:"weekly,monthly"`
	Days       *int            `json:"rotation_period_days" nullable:"true"`
	Next       *resource.Stamp `json:"next_rotation_at" nullable:"true"`
	Transition int64           `json:"key_transition_period_ms"`
	Status     string          `json:"status" enum:"ACTIVE"`
}

func viewRotation(p *keys.RotationPolicy) *rotationPolicyView {
	if p == nil {
		return nil
	}
	v := &rotationPolicyView{Period: jsonfield.OrNull(p.Period), Next: resource.StampOf(p.Next), Transition: p.Transition().Milliseconds(), Status: "ACTIVE"}
	if p.Days > 0 {
		v.Days = &p.Days
	}
	return v
}

// takeRotation replaces the present policy with the one that was sent. If the workspace forces a
// rotation period on user keys, a policy may only set the length of the transition.
// Source: contract/identity-and-governance.md sections 4 and 5.
func takeRotation(ctx context.Context, c *resource.Call, ch *resource.Edit[keys.Key]) error {
	_, sent := ch.Sent[rotationField]
	if !sent && ch.Old != nil {
		return nil
	}
	forced, err := forcedDays(ctx, c.Reader, ch.New)
	if err != nil {
		return err
	}
	key := &ch.New.Value
	switch {
	case ch.Sent.Has(rotationField):
		if key.Rotation, err = rotationSent(ch.Sent, forced); err != nil {
			return err
		}
	case forced > 0:
		key.Rotation = &keys.RotationPolicy{Days: forced, Enforced: true}
	default:
		key.Rotation = nil
		return nil
	}
	if err := key.Rotation.SetNextRun(c.Now); err != nil {
		return err
	}
	return key.Rotation.Validate()
}

// rotationSent returns the policy of a body. forced is the rotation period of the workspace in
// days, 0 for none.
func rotationSent(sent resource.Sent, forced int) (*keys.RotationPolicy, error) {
	var body rotationPolicyIn
	if err := sent.Into(rotationField, &body); err != nil {
		return nil, err
	}
	p := &keys.RotationPolicy{Next: body.Next}
	if body.Period != nil {
		p.Period = *body.Period
	}
	if body.Days != nil {
		p.Days = *body.Days
	}
	if body.Transition != nil {
		p.TransitionMS = *body.Transition
	}
	if forced == 0 {
		return p, nil
	}
	switch {
	case p.Next != nil:
		return nil, fault.Newf(fault.InvalidParameter, "must be omitted: the workspace rotates user keys every %d days", forced).WithParam(rotationField + ".next_rotation_at")
	case p.Period == "" && p.Days == 0:
		p.Days, p.Enforced = forced, true
	case p.EveryDays() != forced:
		return nil, fault.Newf(fault.InvalidParameter, "the workspace rotates user keys every %d days; omit the period, or send the same one", forced).WithParam(rotationField)
	}
	return p, nil
}

// forcedDays returns the rotation period that a workspace forces on its user keys, in days. It
// is 0 for none and for other keys.
func forcedDays(ctx context.Context, from resource.Reader, r *resource.Row[keys.Key]) (int, error) {
	if r.Value.Type != access.WorkspaceUser {
		return 0, nil
	}
	workspace, err := from.Find(ctx, tenant.WorkspaceKind, r.WorkspaceID)
	if err != nil {
		return 0, err
	}
	settings, err := directory.SettingsOf(ctx, from, workspace)
	if err != nil {
		return 0, err
	}
	return *settings.KeyRotationDays, nil
}
