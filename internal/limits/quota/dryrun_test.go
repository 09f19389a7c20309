package quota_test

import (
	"testing"
	"time"

	"sluice/internal/limits/quota"
)

func TestRehearsal(t *testing.T) {
	t.Parallel()
	any := []quota.Condition{is("metadata.team", "search")}
	groups := []quota.GroupBy{{Key: "metadata._user"}}
	alice, bob, ranking := chat(), chat(), chat()
	bob.Metadata = map[string]string{"team": "search", "_user": "bob"}
	ranking.Metadata = map[string]string{"team": "ranking", "_user": "alice"}
	type try struct {
		call   *quota.Call
		after  time.Duration
		tokens int64
		want   string // of the verdict: none, taken or refused
		used   int64
	}
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		r     *quota.DryRun
		tries []try
	}{
		"a rate": {(&quota.RateLimit{Conditions: any, GroupBy: groups, Type: quota.Requests, Unit: quota.PerMinute, Value: 1}).Rehearse(), []try{
			{alice, 0, 5, "taken", 0}, {alice, time.Second, 5, "refused", 1}, {bob, time.Second, 5, "taken", 0}, {ranking, time.Second, 5, "none", 0}, {alice, time.Minute, 5, "taken", 0},
		}},
		"a budget that is reset": {(&quota.UsageLimit{Conditions: any, Budget: quota.Budget{Measure: quota.TokenCount, CreditLimit: 100 * quota.One, Period: quota.Period{Days: 2}}}).Rehearse(noon), []try{
			{alice, 0, 60, "taken", 0}, {bob, 0, 60, "refused", 60}, {bob, time.Hour, 40, "taken", 60}, {alice, day, 1, "refused", 100}, {alice, 2 * day, 100, "taken", 0}, {alice, 9 * day, 100, "taken", 0},
		}},
		"a budget for ever": {(&quota.UsageLimit{Conditions: any, Budget: quota.Budget{Measure: quota.Calls, CreditLimit: 2 * quota.One}}).Rehearse(noon), []try{
			{alice, 0, 60, "taken", 0}, {alice, day, 60, "taken", 1}, {alice, 900 * day, 60, "refused", 2},
		}},
	} {
		for i, try := range c.tries {
			v := c.r.Try(try.call, quota.PastCall{CalledAt: noon.Add(try.after), Tokens: try.tokens})
			got := "none"
			if v.Applies {
				got = "taken"
			}
			if v.Refused {
				got = "refused"
			}
			if got != try.want || v.Used != try.used {
				t.Errorf("%s: call %d: %s with %d used, want %s with %d", name, i, got, v.Used, try.want, try.used)
			}
		}
	}
}
