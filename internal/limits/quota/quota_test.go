package quota_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*quota.RateLimit)
		param  string // of the refusal; empty: valid
	}{
		{"as it is", func(*quota.RateLimit) {}, ""},
		{"no condition", func(p *quota.RateLimit) { p.Conditions = nil }, "conditions"},
		{"no value", func(p *quota.RateLimit) { p.Value = 0 }, "value"},
		{"no unit", func(p *quota.RateLimit) { p.Unit = "" }, "unit"},
		{"any value", func(p *quota.RateLimit) { p.Conditions[0].Value = quota.Values{"*"} }, ""},
		{"an empty value", func(p *quota.RateLimit) { p.Conditions[0].Value = quota.Values{"a", ""} }, "conditions[0].value"},
		{"no values", func(p *quota.RateLimit) { p.Conditions[0].Value = nil }, "conditions[0].value"},
		{"too many values", func(p *quota.RateLimit) { p.Conditions[0].Value = make(quota.Values, quota.MaxValues+1) }, "conditions[0].value"},
		{"an empty exclusion", func(p *quota.RateLimit) { p.Conditions[0].Excludes = quota.Values{""} }, "conditions[0].excludes"},
		{"a foreign key", func(p *quota.RateLimit) { p.Conditions[0].Key = "colour" }, "conditions[0].key"},
		{"metadata", func(p *quota.RateLimit) { p.Conditions[0].Key = "metadata.Team name" }, ""},
		{"metadata of no name", func(p *quota.RateLimit) { p.Conditions[0].Key = "metadata." }, "conditions[0].key"},
		{"metadata of a long name", func(p *quota.RateLimit) { p.Conditions[0].Key = quota.Key("metadata." + strings.Repeat("x", 129)) }, "conditions[0].key"},
		{"an endpoint type", func(p *quota.RateLimit) {
			p.Conditions[0] = quota.Condition{Key: "endpoint_type", Value: quota.Values{"embed", "*"}}
		}, ""},
		{"a foreign endpoint type", func(p *quota.RateLimit) {
			p.Conditions[0] = quota.Condition{Key: "endpoint_type", Value: quota.Values{"sing"}}
		}, "conditions[0].value"},
		{"a foreign group", func(p *quota.RateLimit) { p.GroupBy = []quota.GroupBy{{Key: "colour"}} }, "group_by[0].key"},
		{"a group of no metadata", func(p *quota.RateLimit) { p.GroupBy = []quota.GroupBy{{Key: "metadata."}} }, "group_by[0].key"},
		{"a value below nothing", func(p *quota.RateLimit) { p.Value = -1 }, "value"},
		{"a value beyond reason", func(p *quota.RateLimit) { p.Value = quota.MaxRate + 1 }, "value"},
		{"a group of endpoint types", func(p *quota.RateLimit) { p.GroupBy = []quota.GroupBy{{Key: "endpoint_type"}} }, "group_by[0].key"},
		{"no group", func(p *quota.RateLimit) { p.GroupBy = nil }, ""},
		{"a group twice", func(p *quota.RateLimit) { p.GroupBy = append(p.GroupBy, p.GroupBy[0]) }, "group_by[1].key"},
		{"two groups", func(p *quota.RateLimit) { p.GroupBy = append(p.GroupBy, quota.GroupBy{Key: "metadata.team"}) }, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := quota.RateLimit{
				Conditions: []quota.Condition{{Key: "api_key", Value: quota.Values{"0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f"}}},
				GroupBy:    []quota.GroupBy{{Key: "model"}}, Type: quota.Tokens, Unit: quota.PerWeek, Value: 100,
			}
			c.change(&p)
			err := p.Validate()
			if c.param == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if f := fault.From(err); f == nil || f.Code != fault.InvalidParameter || f.Param != c.param {
				t.Errorf("%v, want a refusal at %s", err, c.param)
			}
		})
	}
}

// Values come back as they were, whichever of their two forms they take.
func TestValuesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := quota.Values(rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "values"))
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if one := raw[0] == '"'; one != (len(v) == 1) {
			t.Fatalf("%d values are written as %s", len(v), raw)
		}
		var decoded quota.Values
		if err := json.Unmarshal(raw, &decoded); err != nil || !cmp.Equal(v, decoded) {
			t.Fatalf("%q came back as %q: %v", v, decoded, err)
		}
	})
	var v quota.Values
	for _, bad := range []string{`7`, `{"a":1}`, `[1]`} {
		if json.Unmarshal([]byte(bad), &v) == nil {
			t.Errorf("%s became %q", bad, v)
		}
	}
}
