package keys_test

import (
	"slices"
	"testing"
	"time"

	"sluice/internal/domain/keys"
)

func TestDue(t *testing.T) {
	t.Parallel()
	now := parseTime("2026-11-20T12:00:00Z")
	fromNow := func(d time.Duration) *time.Time { t := now.Add(d); return &t }
	rotates := func(d time.Duration) *keys.RotationPolicy { return &keys.RotationPolicy{Days: 7, Next: fromNow(d)} }
	before := func(d time.Duration) *keys.Secret { return &keys.Secret{Until: fromNow(d)} }
	for _, c := range []struct {
		name, status string
		key          keys.Key
		want         []keys.Step
	}{
		{"nothing", "active", keys.Key{}, nil},
		{"an expiry to come", "active", keys.Key{ExpiresAt: fromNow(1)}, nil},
		{"an expiry", "active", keys.Key{ExpiresAt: fromNow(0)}, []keys.Step{keys.Expire}},
		{"an expiry of a key that is used up", "exhausted", keys.Key{ExpiresAt: fromNow(-1)}, []keys.Step{keys.Expire}},
		{"expired already", "expired", keys.Key{ExpiresAt: fromNow(-1), Rotation: rotates(-1)}, nil},
		{"expiry comes before rotation", "active", keys.Key{ExpiresAt: fromNow(0), Rotation: rotates(0)}, []keys.Step{keys.Expire}},
		{"a rotation", "active", keys.Key{Rotation: rotates(0)}, []keys.Step{keys.Rotate}},
		{"a rotation during a transition waits, and is not announced", "active", keys.Key{Rotation: rotates(-1), Previous: before(48 * time.Hour)}, nil},
		{"an end, then the rotation", "active", keys.Key{Rotation: rotates(0), Previous: before(0)}, []keys.Step{keys.EndPrevious, keys.Rotate}},
		{"an end of an expired key", "expired", keys.Key{Previous: before(0)}, []keys.Step{keys.EndPrevious}},
		{"an end in a day", "active", keys.Key{Previous: before(24 * time.Hour)}, []keys.Step{keys.WarnTransitionEnd}},
		{"an end in more than a day", "active", keys.Key{Previous: before(24*time.Hour + 1)}, nil},
		{"a warning is given once", "active", keys.Key{Previous: &keys.Secret{Until: fromNow(time.Hour), Warned: true}}, nil},
		{"a rotation in a day", "active", keys.Key{Rotation: rotates(24 * time.Hour)}, []keys.Step{keys.WarnRotation}},
		{"which was announced", "active", keys.Key{Rotation: rotates(time.Hour), WarnedOf: fromNow(time.Hour)}, nil},
		{"the one before was", "active", keys.Key{Rotation: rotates(time.Hour), WarnedOf: fromNow(-time.Hour)}, []keys.Step{keys.WarnRotation}},
		{"both warnings", "active", keys.Key{Rotation: rotates(time.Hour), Previous: before(time.Minute)}, []keys.Step{keys.WarnTransitionEnd, keys.WarnRotation}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.key.Due(c.status, now); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
