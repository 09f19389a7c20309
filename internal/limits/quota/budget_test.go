package quota_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

var rules = quota.Rules{Field: "usage_limits", MaxItems: 3}

func TestReadBudgets(t *testing.T) {
	t.Parallel()
	strict := quota.Rules{Field: "usage_limits", MinTokens: quota.MinTokens()}
	for _, c := range []struct {
		name, sent string
		rules      quota.Rules
		param      string // of the refusal; empty: taken
	}{
		{"the least", `{"credit_limit": 1}`, rules, ""},
		{"everything", `[{"type": "cost", "credit_limit": 25.5, "alert_threshold": 20, "periodic_reset": "monthly", "next_usage_reset_at": "2027-01-15T09:30:00+02:00"}]`, rules, ""},
		{"nulls are absent", `{"credit_limit": 5, "alert_threshold": null, "periodic_reset": null, "periodic_reset_days": null, "next_usage_reset_at": null}`, rules, ""},
		{"nothing", `null`, rules, ""},
		{"an empty list", `[]`, rules, ""},
		{"an exponent", `{"credit_limit": 1e3}`, rules, ""},
		{"tokens below 100", `{"type": "tokens", "credit_limit": 99}`, rules, ""},
		{"softly", `{"credit_limit": 5, "mode": "soft"}`, rules, ""},
		{"strictly", `{"credit_limit": 5, "mode": "strict"}`, rules, ""},
		{"two of one measure", `[{"credit_limit": 5, "periodic_reset": "weekly"}, {"credit_limit": 15, "periodic_reset": "monthly"}]`, rules, ""},

		{"a foreign mode", `[{"credit_limit": 5, "mode": "hard"}]`, rules, "usage_limits[0].mode"},
		{"two alike in other modes", `[{"credit_limit": 5}, {"credit_limit": 6, "mode": "soft"}]`, rules, "usage_limits[1]"},
		{"unknown key", `{"credit_limit": 5, "limit": 5}`, rules, "usage_limits.limit"},
		{"another case", `[{"Credit_limit": 5}]`, rules, "usage_limits[0].Credit_limit"},
		{"what an answer has", `[{"credit_limit": 5, "current_usage": 0}]`, rules, "usage_limits[0].current_usage"},
		{"no limit", `{"type": "cost"}`, rules, "usage_limits.credit_limit"},
		{"a limit of null", `{"credit_limit": null}`, rules, "usage_limits.credit_limit"},
		{"below one", `{"credit_limit": 0.999999}`, rules, "usage_limits.credit_limit"},
		{"below nothing", `{"credit_limit": -5}`, rules, "usage_limits.credit_limit"},
		{"tokens below nothing", `{"type": "tokens", "credit_limit": -500}`, rules, "usage_limits.credit_limit"},
		{"a threshold below nothing", `{"credit_limit": 5, "alert_threshold": -1}`, rules, "usage_limits.alert_threshold"},
		{"days below nothing", `{"credit_limit": 5, "periodic_reset_days": -3}`, rules, "usage_limits.periodic_reset_days"},
		{"half a day", `{"credit_limit": 5, "periodic_reset_days": 1.5}`, rules, "usage_limits.periodic_reset_days"},
		{"a text", `{"credit_limit": "5"}`, rules, "usage_limits.credit_limit"},
		{"too fine", `{"credit_limit": 5.0000001}`, rules, "usage_limits.credit_limit"},
		{"far too fine", `{"credit_limit": 1e-1000000}`, rules, "usage_limits.credit_limit"},
		{"nothing, in a strange form", `{"credit_limit": 0.0e-1000000}`, rules, "usage_limits.credit_limit"},
		{"too much", `{"credit_limit": 9000000001}`, rules, "usage_limits.credit_limit"},
		{"far too much", `{"credit_limit": 1e999}`, rules, "usage_limits.credit_limit"},
		{"too few tokens", `{"type": "tokens", "credit_limit": 99}`, strict, "usage_limits.credit_limit"},
		{"requests on a record", `{"type": "requests", "credit_limit": 99}`, rules, "usage_limits.type"},
		{"a threshold at the limit", `{"credit_limit": 5, "alert_threshold": 5}`, rules, "usage_limits.alert_threshold"},
		{"a threshold below one", `{"credit_limit": 5, "alert_threshold": 0.5}`, rules, "usage_limits.alert_threshold"},
		{"both periods", `{"credit_limit": 5, "periodic_reset": "weekly", "periodic_reset_days": 3}`, rules, "usage_limits.periodic_reset_days"},
		{"a foreign period", `{"credit_limit": 5, "periodic_reset": "daily"}`, rules, "usage_limits.periodic_reset"},
		{"too many days", `{"credit_limit": 5, "periodic_reset_days": 366}`, rules, "usage_limits.periodic_reset_days"},
		{"no time", `{"credit_limit": 5, "next_usage_reset_at": "soon"}`, rules, "usage_limits.next_usage_reset_at"},
		{"two alike", `[{"credit_limit": 5}, {"type": "cost", "credit_limit": 6}]`, rules, "usage_limits[1]"},
		{"too many", `[{"credit_limit": 1}, {"type": "tokens", "credit_limit": 1}]`, strict, "usage_limits"},
		{"a number", `7`, rules, "usage_limits"},
		{"a list of nulls", `[null]`, rules, "usage_limits[0]"},
	} {
		raw := []byte(c.sent)
		_, err := quota.ReadBudgets(raw, c.rules)
		if string(raw) != c.sent {
			t.Errorf("%s: reading wrote %s", c.name, raw)
		}
		if f := fault.From(err); c.param == "" && err != nil || c.param != "" && (err == nil || f.Code != fault.InvalidParameter || f.Param != c.param) {
			t.Errorf("%s: %v, want a refusal at %q", c.name, err, c.param)
		}
	}
}

func TestReadRates(t *testing.T) {
	t.Parallel()
	for sent, param := range map[string]string{
		`[{"type": "requests", "unit": "rpm", "value": 0}, {"type": "tokens", "unit": "rpm", "value": 9}]`: "",
		`null`: "",
		`[{"type": "requests", "unit": "rpm", "value": 1}, {"type": "requests", "unit": "rpm", "value": 9}]`:                           "rate_limits[1]",
		`[{"type": "requests", "unit": "rps", "value": 1}]`:                                                                            "rate_limits[0].unit",
		`[{"type": "cost", "unit": "rpm", "value": 1}]`:                                                                                "rate_limits[0].type",
		`[{"type": "tokens", "unit": "rpm"}]`:                                                                                          "rate_limits[0].value",
		`[{"type": "tokens", "unit": "rpm", "value": 1.5}]`:                                                                            "rate_limits[0].value",
		`[{"type": "tokens", "unit": "rpm", "value": -1}]`:                                                                             "rate_limits[0].value",
		`[{"type": "tokens", "unit": "rpm", "value": 1000000000001}]`:                                                                  "rate_limits[0].value",
		`[{"type": "tokens", "unit": "rpm", "value": 1e30}]`:                                                                           "rate_limits[0].value",
		`[{"type": "tokens", "unit": "rpm", "value": 1, "burst": 2}]`:                                                                  "rate_limits[0].burst",
		`[{"type":"tokens","unit":"rpm","value":1},{"type":"tokens","unit":"rph","value":1},{"type":"tokens","unit":"rpd","value":1}]`: "rate_limits",
	} {
		_, err := quota.ReadRates([]byte(sent), "rate_limits", 2)
		if f := fault.From(err); param == "" && err != nil || param != "" && (err == nil || f.Param != param) {
			t.Errorf("%s: %v, want a refusal at %q", sent, err, param)
		}
	}
}

// What a record keeps, and what an answer shows, is what was sent.
func TestBudgetRoundTrip(t *testing.T) {
	t.Parallel()
	const sent = `{"type":"cost","credit_limit":25.5,"alert_threshold":20,"periodic_reset":"monthly","next_usage_reset_at":"2027-01-15T00:00:00Z"}`
	list, err := quota.ReadBudgets([]byte(sent), rules)
	if err != nil {
		t.Fatal(err)
	}
	b := list[0]
	if b.Limit() != 25_500_000_000 || b.Threshold() != 20_000_000_000 {
		t.Errorf("limit %d, threshold %d", b.Limit(), b.Threshold())
	}
	raw, err := json.Marshal(b)
	if err != nil || string(raw) != sent {
		t.Errorf("%s, %v", raw, err)
	}
	var limits quota.Limits
	if err := json.Unmarshal([]byte(`{"name": "x", "usage_limits": `+sent+`, "rate_limits": null}`), &limits); err != nil || !cmp.Equal([]quota.Budget(limits.Budgets), list) {
		t.Errorf("%+v, %v", limits, err)
	}
	if err := json.Unmarshal([]byte(`{"usage_limits": [`+sent+`]}`), &limits); err != nil || !cmp.Equal([]quota.Budget(limits.Budgets), list) {
		t.Errorf("%+v, %v", limits, err)
	}
}

// An amount survives its text, and usage its own.
func TestAmounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := quota.Amount(rapid.Int64Range(int64(-quota.MaxAmount), int64(quota.MaxAmount)).Draw(t, "amount"))
		var decoded quota.Amount
		if err := json.Unmarshal([]byte(a.String()), &decoded); err != nil || decoded != a {
			t.Fatalf("%s became %d: %v", a, decoded, err)
		}
	})
	for want, got := range map[string]string{
		"0.25": quota.Cost.Text(250_000_000), "0": quota.Cost.Text(0), "12": quota.TokenCount.Text(12), "1.000000001": quota.Cost.Text(1_000_000_001),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if n := quota.TokenCount.Units(100*quota.One + 1); n != 101 {
		t.Errorf("a token begun counts as %d", n)
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	read := func(raw string) []quota.Budget {
		list, err := quota.ReadBudgets([]byte(raw), rules)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := read(`[{"credit_limit": 5, "periodic_reset": "weekly"}, {"credit_limit": 15, "periodic_reset": "monthly"}, {"type": "tokens", "credit_limit": 200}]`)
	quota.InheritIDs(before, nil)
	after := read(`[{"credit_limit": 16, "periodic_reset": "monthly"}, {"credit_limit": 3}, {"type": "tokens", "credit_limit": 1, "periodic_reset_days": 2}]`)
	quota.InheritIDs(after, before)
	if after[0].ID != before[1].ID || after[1].ID != before[0].ID || after[2].ID != before[2].ID {
		t.Errorf("%+v adopted from %+v", after, before)
	}
	fresh := read(`{"type": "tokens", "credit_limit": 7}`)
	quota.InheritIDs(fresh, before[:2])
	if fresh[0].ID == "" || fresh[0].ID == before[0].ID || fresh[0].ID == before[1].ID {
		t.Errorf("%q is not an id of its own", fresh[0].ID)
	}
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	day := func(s string) time.Time {
		v, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	requested := day("2026-12-24")
	for _, c := range []struct {
		name      string
		period    quota.Period
		from, now string
		first     string // of usage that begins at from; empty for none
		after     string // behind now, from the first one on
	}{
		{"never", quota.Period{}, "2026-11-20", "2027-01-01", "", ""},
		{"a Friday", quota.Period{Every: quota.Weekly}, "2026-11-20", "2026-11-23", "2026-11-23", "2026-11-30"},
		{"a Monday", quota.Period{Every: quota.Weekly}, "2026-11-23", "2026-12-09", "2026-11-30", "2026-12-14"},
		{"a Sunday", quota.Period{Every: quota.Weekly}, "2026-11-22", "2026-11-23", "2026-11-23", "2026-11-30"},
		{"months", quota.Period{Every: quota.Monthly}, "2026-11-20", "2026-12-01", "2026-12-01", "2027-01-01"},
		{"from the last of a month", quota.Period{Every: quota.Monthly}, "2026-12-31", "2027-01-31", "2027-01-01", "2027-02-01"},
		{"ten days", quota.Period{Days: 10}, "2026-11-20", "2026-11-30", "2026-11-30", "2026-12-10"},
		{"ten days, some missed", quota.Period{Days: 10}, "2026-11-20", "2026-12-15", "2026-11-30", "2026-12-20"},
		{"a day that was asked for", quota.Period{Days: 10, NextResetAt: &requested}, "2026-11-20", "2026-12-24", "2026-12-24", "2027-01-03"},
		{"a day that is over", quota.Period{Days: 10, NextResetAt: &requested}, "2026-12-26", "2027-01-03", "2027-01-03", "2027-01-13"},
		{"once", quota.Period{NextResetAt: &requested}, "2026-11-20", "2026-12-24", "2026-12-24", ""},
		{"once, and over", quota.Period{NextResetAt: &requested}, "2026-12-24", "2026-12-25", "", ""},
	} {
		text := func(v time.Time) string {
			if v.IsZero() {
				return ""
			}
			return v.Format(time.DateOnly)
		}
		first := c.period.First(day(c.from).Add(17 * time.Hour))
		after := c.period.After(first, day(c.now).Add(5*time.Minute))
		if text(first) != c.first || text(after) != c.after {
			t.Errorf("%s: %s then %s, want %s then %s", c.name, text(first), text(after), c.first, c.after)
		}
	}
	if quota.Period.ValidateNextReset(quota.Period{NextResetAt: &requested}, requested, "") == nil || quota.Period.ValidateNextReset(quota.Period{NextResetAt: &requested}, requested.Add(-1), "") != nil {
		t.Error("a next reset is behind now")
	}
}

// However late somebody looks, the next reset lies behind now, at midnight, and no
// further than one period.
func TestPeriodsAdvance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := quota.Period{Days: rapid.IntRange(0, quota.MaxDays).Draw(t, "days")}
		longest := p.Days
		if p.Days == 0 {
			p.Every = rapid.SampledFrom([]string{quota.Weekly, quota.Monthly}).Draw(t, "every")
			longest = map[string]int{quota.Weekly: 7, quota.Monthly: 31}[p.Every]
		}
		last := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "last"), 0).UTC()
		now := last.Add(time.Duration(rapid.Int64Range(0, 900*24*3600).Draw(t, "later")) * time.Second)
		next := p.After(last, now)
		if !next.After(now) || next.Sub(now) > time.Duration(longest)*24*time.Hour || next.Hour()+next.Minute()+next.Second() != 0 {
			t.Fatalf("after %s at %s comes %s", last, now, next)
		}
	})
}

func FuzzReadBudgets(f *testing.F) {
	for _, seed := range []string{`{"credit_limit":1e2}`, `[{"credit_limit":0e999999999}]`, `{"credit_limit":5,"periodic_reset_days":-1}`, `[[]]`, `{"next_usage_reset_at":"9999-12-31T23:59:59Z","credit_limit":1}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		list, err := quota.ReadBudgets([]byte(raw), rules)
		for _, b := range list {
			if err == nil && (b.Limit() < 1 || b.Threshold() >= b.Limit()) {
				t.Errorf("%s became %+v", raw, b)
			}
		}
	})
}

func hasParam(err error, param string) bool { return fault.From(err).Param == param }

// Policies read their resets by the same rules.
func TestPolicyResets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		period quota.Period
		param  string
	}{
		"by the calendar":    {quota.Period{Every: quota.Monthly}, ""},
		"every few days":     {quota.Period{Days: 3}, ""},
		"both":               {quota.Period{Every: quota.Weekly, Days: 3}, "periodic_reset_days"},
		"a foreign word":     {quota.Period{Every: "yearly"}, "periodic_reset"},
		"days below nothing": {quota.Period{Days: -1}, "periodic_reset_days"},
	} {
		p := quota.UsageLimit{
			Conditions: []quota.Condition{{Key: "provider", Value: quota.Values{"openai"}}},
			Budget:     quota.Budget{CreditLimit: 5 * quota.One, Period: c.period},
		}
		err := p.Validate()
		if f := fault.From(err); c.param == "" && err != nil || c.param != "" && (err == nil || f.Param != c.param) {
			t.Errorf("%s: %v, want a refusal at %q", name, err, c.param)
		}
	}
}
