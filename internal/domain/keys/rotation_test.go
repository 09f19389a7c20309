package keys_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
)

func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func timePtr(text string) *time.Time { t := parseTime(text); return &t }

func TestNextRotation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, now, want string
		policy          keys.RotationPolicy
	}{
		{"weekly, from a Friday", "2026-11-20T10:00:00Z", "2026-11-23T00:00:00Z", keys.RotationPolicy{Period: keys.Weekly}},
		{"weekly, from a Sunday", "2026-11-22T23:59:59Z", "2026-11-23T00:00:00Z", keys.RotationPolicy{Period: keys.Weekly}},
		{"weekly, from the minute itself", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z", keys.RotationPolicy{Period: keys.Weekly}},
		{"weekly, from another zone", "2026-11-23T01:00:00+02:00", "2026-11-23T00:00:00Z", keys.RotationPolicy{Period: keys.Weekly}},
		{"monthly", "2026-11-20T10:00:00Z", "2026-12-01T00:00:00Z", keys.RotationPolicy{Period: keys.Monthly}},
		{"monthly, over the year", "2026-12-31T10:00:00Z", "2027-01-01T00:00:00Z", keys.RotationPolicy{Period: keys.Monthly}},
		{"monthly, from the last of a long month", "2027-01-31T10:00:00Z", "2027-02-01T00:00:00Z", keys.RotationPolicy{Period: keys.Monthly}},
		{"days", "2026-11-20T10:00:00Z", "2026-11-23T00:00:00Z", keys.RotationPolicy{Days: 3}},
		{"the time that was asked for", "2026-11-20T10:00:00Z", "2026-11-25T00:00:00Z", keys.RotationPolicy{Period: keys.Weekly, Next: timePtr("2026-11-25T17:30:00Z")}},
		{"later today is the midnight after", "2026-11-20T10:00:00Z", "2026-11-21T00:00:00Z", keys.RotationPolicy{Next: timePtr("2026-11-20T17:30:00Z")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.policy.SetNextRun(parseTime(c.now)); err != nil {
				t.Fatal(err)
			}
			if !c.policy.Next.Equal(parseTime(c.want)) || c.policy.Next.Location() != time.UTC {
				t.Errorf("next %v, want %s", c.policy.Next, c.want)
			}
		})
	}
}

func TestRotationPolicyRefuses(t *testing.T) {
	t.Parallel()
	now := parseTime("2026-11-20T10:00:00Z")
	for _, c := range []struct {
		name, field string
		policy      keys.RotationPolicy
	}{
		{"nothing", "rotation_policy", keys.RotationPolicy{}},
		{"another word", "rotation_policy.rotation_period", keys.RotationPolicy{Period: "daily"}},
		{"both", "rotation_policy.rotation_period_days", keys.RotationPolicy{Period: keys.Weekly, Days: 7}},
		{"too many days", "rotation_policy.rotation_period_days", keys.RotationPolicy{Days: 366}},
		{"negative days", "rotation_policy.rotation_period_days", keys.RotationPolicy{Days: -1}},
		{"the past", "rotation_policy.next_rotation_at", keys.RotationPolicy{Next: &now}},
		{"a short transition", "rotation_policy.key_transition_period_ms", keys.RotationPolicy{Period: keys.Weekly, TransitionMS: 1_799_999}},
		{"a transition of a day within a day", "rotation_policy.key_transition_period_ms", keys.RotationPolicy{Days: 1, TransitionMS: 86_400_000}},
		{"a transition of the shortest month", "rotation_policy.key_transition_period_ms", keys.RotationPolicy{Period: keys.Monthly, TransitionMS: 28 * 86_400_000}},
		{"a transition without end", "rotation_policy.key_transition_period_ms", keys.RotationPolicy{Next: timePtr("2027-11-20T10:00:00Z"), TransitionMS: 366 * 86_400_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.policy.SetNextRun(now)
			if err == nil {
				err = c.policy.Validate()
			}
			if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != c.field {
				t.Errorf("%v, want a refusal of %s", err, c.field)
			}
		})
	}
	if p := (keys.RotationPolicy{Days: 1, TransitionMS: 86_399_999}); p.SetNextRun(now) != nil || p.Validate() != nil {
		t.Error("a transition just shorter than the period was refused")
	}
}

// Whatever the period: the next run is a midnight in the future, never further away than
// the period allows, and a transition that is valid ends before it.
func TestRotationsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := keys.RotationPolicy{Period: rapid.SampledFrom([]string{"", keys.Weekly, keys.Monthly}).Draw(t, "period")}
		if p.Period == "" {
			p.Days = rapid.IntRange(1, 365).Draw(t, "days")
		}
		p.TransitionMS = rapid.Int64Range(1_800_000, 40*86_400_000).Draw(t, "transition")
		now := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "now"), 0)
		if p.SetNextRun(now) != nil || p.Validate() != nil {
			return
		}
		for range 5 {
			run := *p.Next
			if !run.After(now) || run != run.UTC().Truncate(24*time.Hour) {
				t.Fatalf("run %v after %v", run, now)
			}
			next := p.AfterRotation(run)
			if !run.Add(p.Transition()).Before(*next.Next) {
				t.Fatalf("the transition of the run at %v goes beyond the next one at %v", run, next.Next)
			}
			p, now = *next, run
		}
	})
}

func TestASingleRunIsTheLast(t *testing.T) {
	t.Parallel()
	p := &keys.RotationPolicy{Next: timePtr("2026-11-25T00:00:00Z")}
	if p.AfterRotation(parseTime("2026-11-25T00:00:10Z")) != nil {
		t.Error("a policy without a period goes on")
	}
	if (*keys.RotationPolicy)(nil).AfterRotation(time.Now()) != nil || (*keys.RotationPolicy)(nil).Transition() != keys.MinTransition {
		t.Error("no policy has the usual transition and no next run")
	}
}
