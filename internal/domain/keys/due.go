package keys

import (
	"slices"
	"time"
)

// Step is a change of a key that becomes due at a certain time.
type Step string

// The steps, in the order in which they run.
// Source: contract/identity-and-governance.md section 5, key secret versions.
const (
	EndPrevious       Step = "end_previous"  // the value before a rotation expires
	Expire            Step = "expire"        // the key has expired
	Rotate            Step = "rotate"        // its rotation is due
	WarnTransitionEnd Step = "warn_ending"   // the value before a rotation expires soon
	WarnRotation      Step = "warn_rotation" // a rotation is due soon
)

// warningLead is the time between a warning and its event.
const warningLead = day

// Due returns the steps that are due for a key with the given stored status, in order. A key is
// not rotated while its last rotation is in transition, or after it has expired.
func (k *Key) Due(status string, now time.Time) []Step {
	var steps []Step
	if k.Previous != nil && reached(k.Previous.Until, now) {
		steps = append(steps, EndPrevious)
	}
	live := status == "active" || status == "exhausted"
	next := k.nextRotation()
	switch {
	case live && reached(k.ExpiresAt, now):
		return append(steps, Expire)
	case live && reached(next, now) && (k.Previous == nil || len(steps) > 0):
		return append(steps, Rotate)
	}
	if k.Previous != nil && len(steps) == 0 && !k.Previous.Warned && reached(k.Previous.Until, now.Add(warningLead)) {
		steps = append(steps, WarnTransitionEnd)
	}
	if live && reached(next, now.Add(warningLead)) && !reached(next, now) && (k.WarnedOf == nil || !k.WarnedOf.Equal(*next)) {
		steps = append(steps, WarnRotation)
	}
	return slices.Clip(steps)
}

func (k *Key) nextRotation() *time.Time {
	if k.Rotation == nil {
		return nil
	}
	return k.Rotation.Next
}

func reached(t *time.Time, now time.Time) bool { return t != nil && !now.Before(*t) }
