package quota_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/limits/quota"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestMeter(t *testing.T) {
	t.Parallel()
	type state struct{ exhausted, threshold, alerted bool }
	full := quota.Meter{Used: 100, Limit: 100, Threshold: 80, Exhausted: true, ThresholdAlert: true, ExhaustedAlert: true}
	for _, c := range []struct {
		name   string
		before quota.Meter
		change func(*quota.Meter)
		want   state
		alerts quota.Alerts // by a check behind the change
	}{
		{"below all", quota.Meter{Used: 79, Limit: 100, Threshold: 80}, func(*quota.Meter) {}, state{}, quota.Alerts{}},
		{"at the threshold", quota.Meter{Used: 80, Limit: 100, Threshold: 80}, func(*quota.Meter) {}, state{threshold: true}, quota.Alerts{Threshold: true}},
		{"at the threshold, told", quota.Meter{Used: 85, Limit: 100, Threshold: 80, ThresholdAlert: true}, func(*quota.Meter) {}, state{threshold: true}, quota.Alerts{}},
		{"at the limit", quota.Meter{Used: 100, Limit: 100}, func(*quota.Meter) {}, state{exhausted: true, alerted: true}, quota.Alerts{Exhausted: true}},
		{"over both at once", quota.Meter{Used: 300, Limit: 100, Threshold: 80}, func(*quota.Meter) {}, state{true, true, true}, quota.Alerts{Threshold: true, Exhausted: true}},
		{"full and told", full, func(*quota.Meter) {}, state{true, true, true}, quota.Alerts{}},
		{"reset", full, func(m *quota.Meter) { m.Reset(noon) }, state{}, quota.Alerts{}},
		{"corrected to below the limit", full, func(m *quota.Meter) { m.Used = 90; m.ClearAlerts() }, state{threshold: true}, quota.Alerts{}},
		{"corrected to below the threshold", full, func(m *quota.Meter) { m.Used = 79; m.ClearAlerts() }, state{}, quota.Alerts{}},
		{"corrected, and above the limit still", full, func(m *quota.Meter) { m.Used = 100; m.ClearAlerts() }, state{true, true, true}, quota.Alerts{}},
		{"a higher limit", full, func(m *quota.Meter) { m.SetLimits(200, 150) }, state{}, quota.Alerts{}},
		{"a higher limit, not high enough for the threshold", full, func(m *quota.Meter) { m.SetLimits(101, 80) }, state{threshold: true}, quota.Alerts{Threshold: true}},
		{"the same limit", full, func(m *quota.Meter) { m.SetLimits(100, 80) }, state{true, true, true}, quota.Alerts{}},
		{"a lower limit", quota.Meter{Used: 60, Limit: 100}, func(m *quota.Meter) { m.SetLimits(50, 0) }, state{exhausted: true, alerted: true}, quota.Alerts{Exhausted: true}},
		{"a higher threshold", full, func(m *quota.Meter) { m.SetLimits(100, 90) }, state{true, true, true}, quota.Alerts{Threshold: true}},
		{"no threshold", full, func(m *quota.Meter) { m.SetLimits(100, 0) }, state{exhausted: true, alerted: true}, quota.Alerts{}},
		{"a lower threshold", quota.Meter{Used: 85, Limit: 100, Threshold: 80, ThresholdAlert: true}, func(m *quota.Meter) { m.SetLimits(100, 50) }, state{threshold: true}, quota.Alerts{}},
	} {
		m := c.before
		c.change(&m)
		alerts := m.Check()
		if got := (state{m.Exhausted, m.ThresholdAlert, m.ExhaustedAlert}); got != c.want || alerts != c.alerts {
			t.Errorf("%s: %+v and %+v, want %+v and %+v", c.name, got, alerts, c.want, c.alerts)
		}
	}
	m := full
	if m.Reset(noon); m.Used != 0 || !m.LastReset.Equal(noon) {
		t.Errorf("%+v", m)
	}
	if m.Due(noon) {
		t.Error("what never resets is due")
	}
	if m.NextReset = noon; !m.Due(noon) || m.Due(noon.Add(-1)) {
		t.Error("a reset is due from its time on")
	}
}

// Whatever happens in whatever order: after a check the meter is exhausted just when
// usage has reached the limit or had reached it since the meter was last opened, and
// nothing is told twice between two openings.
func TestMeterSequences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := quota.Meter{Limit: 100, Threshold: 80}
		var alerts struct{ threshold, exhausted int }
		reached := false
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				m.Used += rapid.Int64Range(0, 60).Draw(t, "used")
			case 2:
				m.Reset(noon)
				alerts.threshold, alerts.exhausted, reached = 0, 0, false
			case 3:
				limit := rapid.Int64Range(1, 200).Draw(t, "limit")
				threshold := rapid.Int64Range(0, limit-1).Draw(t, "threshold")
				if threshold == 0 || threshold > m.Threshold {
					alerts.threshold = 0
				}
				if limit > m.Limit {
					alerts.threshold, alerts.exhausted, reached = 0, 0, false
				}
				m.SetLimits(limit, threshold)
			}
			a := m.Check()
			reached = reached || m.Used >= m.Limit
			if a.Threshold {
				alerts.threshold++
			}
			if a.Exhausted {
				alerts.exhausted++
			}
			if m.Exhausted != reached || alerts.exhausted > 1 || alerts.threshold > 1 || reached != (alerts.exhausted == 1) {
				t.Fatalf("%+v, told %+v, reached %v", m, alerts, reached)
			}
			if again := m.Check(); again != (quota.Alerts{}) {
				t.Fatalf("told again: %+v", again)
			}
		}
	})
}

func TestUsageLimitValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*quota.UsageLimit)
		param  string
	}{
		"as it is":          {func(*quota.UsageLimit) {}, ""},
		"no condition":      {func(p *quota.UsageLimit) { p.Conditions = nil }, "conditions"},
		"endpoint types":    {func(p *quota.UsageLimit) { p.Conditions[0].Key = "endpoint_type" }, "conditions[0].key"},
		"a foreign group":   {func(p *quota.UsageLimit) { p.GroupBy = []quota.GroupBy{{Key: "colour"}} }, "group_by[0].key"},
		"few tokens":        {func(p *quota.UsageLimit) { p.CreditLimit = 99 * quota.One }, "credit_limit"},
		"a foreign measure": {func(p *quota.UsageLimit) { p.Measure = "hours" }, "type"},
		"one request":       {func(p *quota.UsageLimit) { p.Measure, p.CreditLimit = quota.Calls, quota.One }, ""},
	} {
		p := quota.UsageLimit{Conditions: []quota.Condition{{Key: "model", Value: quota.Values{"*"}}}, Budget: quota.Budget{Measure: quota.TokenCount, CreditLimit: 100 * quota.One}}
		c.change(&p)
		if err := p.Validate(); (err == nil) != (c.param == "") || err != nil && !hasParam(err, c.param) {
			t.Errorf("%s: %v, want a refusal at %q", name, err, c.param)
		}
	}
	if quota.EntryOf("a") == quota.EntryOf("b") || len(quota.EntryOf("")) != 64 {
		t.Error("entries are digests")
	}
}

// TestLatest: a schedule that nobody kept for a while has its resets all the same.
func TestLatest(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) // a Saturday
	for name, c := range map[string]struct {
		p    quota.Period
		now  time.Time
		want time.Time
	}{
		"the one that is due":    {quota.Period{Days: 3}, midnight.AddDate(0, 0, 2), midnight},
		"one that was missed":    {quota.Period{Days: 3}, midnight.AddDate(0, 0, 8), midnight.AddDate(0, 0, 6)},
		"a Monday":               {quota.Period{Every: quota.Weekly}, midnight.AddDate(0, 0, 10), midnight.AddDate(0, 0, 9)},
		"the first of a month":   {quota.Period{Every: quota.Monthly}, midnight.AddDate(0, 3, 0), time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)},
		"one that never repeats": {quota.Period{}, midnight.AddDate(1, 0, 0), midnight},
	} {
		if got := c.p.Latest(midnight, c.now); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	m := quota.Meter{Used: 5, LastReset: midnight}
	if m.Renew(midnight); m.Used != 5 {
		t.Error("what was used behind a reset is lost with it")
	}
	if m.Renew(midnight.Add(time.Hour)); m.Used != 0 || !m.LastReset.Equal(midnight.Add(time.Hour)) {
		t.Errorf("renewed: %+v", m)
	}
}
