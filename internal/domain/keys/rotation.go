package keys

import (
	"time"

	"sluice/internal/kernel/fault"
)

// The periods of a RotationPolicy.
const (
	Weekly  = "weekly"  // Monday 00:00 UTC
	Monthly = "monthly" // the first of the month, 00:00 UTC
)

// Limits of the time for which both values of a rotated key are valid. The minimum is also the
// default. Source: spec, Limits; the maximum is ours.
const (
	MinTransition = 30 * time.Minute
	MaxTransition = 365 * 24 * time.Hour
)

// maxRotationDays is the maximum period in days.
const maxRotationDays = 365

const day = 24 * time.Hour

// RotationPolicy schedules the automatic new values of a key.
// Source: contract/identity-and-governance.yaml, RotationPolicy.
type RotationPolicy struct {
	Period       string     `json:"rotation_period,omitempty"`          // Weekly or Monthly; empty for none
	Days         int        `json:"rotation_period_days,omitempty"`     // 1 to 365; 0 for none; not with Period
	Next         *time.Time `json:"next_rotation_at,omitempty"`         // time of the next run, always 00:00 UTC
	TransitionMS int64      `json:"key_transition_period_ms,omitempty"` // at least 30 minutes; 0 means 30 minutes
	// Enforced marks a policy that the workspace gave to a user key without a policy.
	Enforced bool `json:"enforced,omitempty"`
}

// Validate checks a policy. The error is fault.InvalidParameter at the field. SetNextRun must
// run first.
func (p *RotationPolicy) Validate() error {
	const path = "rotation_policy"
	switch {
	case p.Period != "" && p.Period != Weekly && p.Period != Monthly:
		return fault.New(fault.InvalidParameter, "must be weekly or monthly; use rotation_period_days for another period").WithParam(path + ".rotation_period")
	case p.Period != "" && p.Days != 0:
		return fault.New(fault.InvalidParameter, "send rotation_period or rotation_period_days, not both").WithParam(path + ".rotation_period_days")
	case p.Days < 0 || p.Days > maxRotationDays:
		return fault.Newf(fault.InvalidParameter, "must be between 1 and %d", maxRotationDays).WithParam(path + ".rotation_period_days")
	case p.Period == "" && p.Days == 0 && p.Next == nil:
		return fault.New(fault.InvalidParameter, "send rotation_period, rotation_period_days or next_rotation_at; send null to remove the policy").WithParam(path)
	}
	return p.CheckTransition(p.Transition(), path+".key_transition_period_ms")
}

// CheckTransition refuses a transition that is too short, too long, or not over before the next
// rotation. The error is fault.InvalidParameter at path. A nil policy has no next rotation.
func (p *RotationPolicy) CheckTransition(d time.Duration, path string) error {
	switch {
	case d < MinTransition || d > MaxTransition:
		return fault.Newf(fault.InvalidParameter, "must be between %d and %d milliseconds", MinTransition.Milliseconds(), MaxTransition.Milliseconds()).WithParam(path)
	case p != nil && p.length() > 0 && d >= p.length():
		return fault.Newf(fault.InvalidParameter, "must be less than the rotation period of %d milliseconds", p.length().Milliseconds()).WithParam(path)
	}
	return nil
}

// Transition returns the time for which both values are valid after a rotation. With a nil
// policy it returns the default.
func (p *RotationPolicy) Transition() time.Duration {
	if p == nil || p.TransitionMS == 0 {
		return MinTransition
	}
	return time.Duration(p.TransitionMS) * time.Millisecond
}

// length returns the shortest time between two runs, or 0 for a policy that runs once.
func (p *RotationPolicy) length() time.Duration {
	switch p.Period {
	case Weekly:
		return 7 * day
	case Monthly:
		return 28 * day
	}
	return time.Duration(p.Days) * day
}

// EveryDays returns the period in the unit of the workspace setting: 7 for weekly, 30 for
// monthly, 0 for a single run.
func (p *RotationPolicy) EveryDays() int {
	switch p.Period {
	case Weekly:
		return 7
	case Monthly:
		return 30
	}
	return p.Days
}

// SetNextRun moves the next run to 00:00 UTC, and computes it when none was requested. A
// requested run must be in the future, otherwise the error is fault.InvalidParameter. The run
// moves to the midnight before the requested time, or to the one after it when that midnight
// has passed.
func (p *RotationPolicy) SetNextRun(now time.Time) error {
	if p.Next == nil {
		p.Next = p.After(now)
		return nil
	}
	if !p.Next.After(now) {
		return fault.New(fault.InvalidParameter, "must be in the future").WithParam("rotation_policy.next_rotation_at")
	}
	next := midnight(*p.Next)
	if !next.After(now) {
		next = next.Add(day)
	}
	p.Next = &next
	return nil
}

// After returns the first run after t, or nil when the policy has no period.
func (p *RotationPolicy) After(t time.Time) *time.Time {
	next := midnight(t)
	switch {
	case p.Period == Weekly:
		next = next.AddDate(0, 0, 7-(int(next.Weekday())+6)%7)
	case p.Period == Monthly:
		next = time.Date(next.Year(), next.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	case p.Days > 0:
		next = next.AddDate(0, 0, p.Days)
	default:
		return nil
	}
	return &next
}

// AfterRotation returns the policy of a key that has just been rotated, or nil when no further
// run follows.
func (p *RotationPolicy) AfterRotation(now time.Time) *RotationPolicy {
	if p == nil {
		return nil
	}
	q := *p
	if q.Next = p.After(now); q.Next == nil {
		return nil
	}
	return &q
}

// midnight returns the beginning of a day in UTC.
func midnight(t time.Time) time.Time { return t.UTC().Truncate(day) }

// Conflicts reports whether the policy of a user key, which may be nil, differs from the period
// that a workspace enforces, in days. With 0 days the workspace enforces none, and only an
// enforced policy conflicts.
func (p *RotationPolicy) Conflicts(days int) bool {
	switch {
	case p == nil:
		return days > 0
	case days == 0:
		return p.Enforced
	}
	return p.EveryDays() != days || p.Next == nil
}

// WithForcedPeriod returns the policy with the period that a workspace enforces, or nil with 0
// days. It retains the transition when the transition is valid for the period.
func (p *RotationPolicy) WithForcedPeriod(days int, now time.Time) (*RotationPolicy, error) {
	if days == 0 {
		return nil, nil
	}
	q := &RotationPolicy{Days: days, Enforced: true}
	if p != nil {
		q.TransitionMS = p.TransitionMS
	}
	if err := q.SetNextRun(now); err != nil {
		return nil, err
	}
	if q.Validate() != nil {
		q.TransitionMS = 0
	}
	return q, nil
}
