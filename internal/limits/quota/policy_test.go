package quota_test

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/quota"
)

const (
	keyID       = "0191a000-0000-7000-8000-000000000001"
	workspaceID = "0191a000-0000-7000-8000-000000000002"
	orgID       = "0191a000-0000-7000-8000-000000000003"
	acctID      = "0191a000-0000-7000-8000-000000000004"
	configID    = "0191a000-0000-7000-8000-000000000005"
)

// chat is a call that has everything but a prompt.
func chat() *quota.Call {
	return &quota.Call{
		OrgID: orgID, Workspace: quota.Named{Slug: "ws-search", ID: workspaceID}, KeyID: keyID,
		Account: quota.Named{Slug: "openai-main", ID: acctID}, Provider: "openai", Config: quota.Named{Slug: "pc-main", ID: configID},
		Model: "gpt-4o", Endpoint: llm.ChatComplete, Metadata: map[string]string{"team": "search", "_user": "alice", "empty": ""},
	}
}

func is(key string, values ...string) quota.Condition {
	return quota.Condition{Key: quota.Key(key), Value: values}
}

func not(c quota.Condition, values ...string) quota.Condition {
	c.Excludes = values
	return c
}

func TestConditions(t *testing.T) {
	t.Parallel()
	var many []string
	for range 20 {
		many = append(many, strings.Repeat("x", len(many)+1))
	}
	for _, c := range []struct {
		name       string
		conditions []quota.Condition
		applies    bool
	}{
		{"the key", []quota.Condition{is("api_key", keyID)}, true},
		{"another key", []quota.Condition{is("api_key", workspaceID)}, false},
		{"any key", []quota.Condition{is("api_key", "*")}, true},
		{"one of several", []quota.Condition{is("provider", "groq", "openai")}, true},
		{"one of many", []quota.Condition{is("provider", append(many, "openai")...)}, true},
		{"none of many", []quota.Condition{is("provider", many...)}, false},
		{"both", []quota.Condition{is("provider", "openai"), is("metadata.team", "search")}, true},
		{"one of both", []quota.Condition{is("provider", "openai"), is("metadata.team", "ranking")}, false},
		{"excluded", []quota.Condition{not(is("metadata.team", "*"), "search")}, false},
		{"another one excluded", []quota.Condition{not(is("metadata.team", "*"), "ranking")}, true},
		{"metadata that is missing", []quota.Condition{is("metadata.cost_centre", "*")}, false},
		{"metadata that is empty", []quota.Condition{is("metadata.empty", "*")}, false},
		{"metadata in another case", []quota.Condition{is("metadata.Team", "*")}, false},
		{"a workspace by slug", []quota.Condition{is("workspace_id", "ws-search")}, true},
		{"a workspace by id", []quota.Condition{is("workspace_id", workspaceID)}, true},
		{"a workspace excluded by slug", []quota.Condition{not(is("workspace_id", workspaceID), "ws-search")}, false},
		{"the organisation", []quota.Condition{is("organisation_id", orgID)}, true},
		{"a saved provider", []quota.Condition{is("virtual_key", "openai-main")}, true},
		{"a config", []quota.Condition{is("config", "pc-main")}, true},
		{"a prompt, of a call without one", []quota.Condition{is("prompt", "*")}, false},
		{"an endpoint", []quota.Condition{is("endpoint_type", "embed", "chatComplete")}, true},
		{"another endpoint", []quota.Condition{is("endpoint_type", "embed")}, false},
		{"a model", []quota.Condition{is("model", "@openai/gpt-4o")}, true},
		{"the model of another provider", []quota.Condition{is("model", "@azure-openai/gpt-4o")}, false},
		{"all models of a provider", []quota.Condition{is("model", "@openai/*")}, true},
		{"all models of another provider", []quota.Condition{is("model", "@groq/*")}, false},
		{"all models below a name", []quota.Condition{is("model", "@openai/gpt-4o/*")}, false},
		{"a star within a name is a letter", []quota.Condition{is("model", "@openai/gpt*")}, false},
		{"all models but one", []quota.Condition{not(is("model", "@openai/*"), "@openai/gpt-4o")}, false},
		{"any model", []quota.Condition{is("model", "*")}, true},
	} {
		p := quota.RateLimit{Conditions: c.conditions, Type: quota.Requests, Unit: quota.PerMinute, Value: 1}
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, applies := p.Compile("p").Match(chat()); applies != c.applies {
			t.Errorf("%s: applies is %v", c.name, applies)
		}
	}
}

func TestModelWithSlashes(t *testing.T) {
	t.Parallel()
	c := chat()
	c.Provider, c.Model = "together-ai", "meta/llama-3/70b"
	for value, applies := range map[string]bool{
		"@together-ai/meta/llama-3/70b": true, "@together-ai/meta/*": true, "@together-ai/meta/llama-3/*": true, "@together-ai/*": true,
		"@together-ai/met/*": false, "@together-ai/meta/llama-3": false,
	} {
		p := quota.RateLimit{Conditions: []quota.Condition{is("model", value)}, Type: quota.Requests, Unit: quota.PerMinute, Value: 1}
		if _, got := p.Compile("p").Match(c); got != applies {
			t.Errorf("%s: applies is %v", value, got)
		}
	}
	if c.Provider = ""; applied(c, is("model", "*")) {
		t.Error("a model of no provider is no model")
	}
}

func applied(c *quota.Call, conditions ...quota.Condition) bool {
	p := quota.RateLimit{Conditions: conditions, Type: quota.Requests, Unit: quota.PerMinute, Value: 1}
	_, ok := p.Compile("p").Match(c)
	return ok
}

func TestValueKeys(t *testing.T) {
	t.Parallel()
	long := chat()
	long.Metadata["team"] = strings.Repeat("é", quota.MaxValueKey)
	for _, c := range []struct {
		name   string
		call   *quota.Call
		groups string
		want   string // empty: the policy does not apply
	}{
		{"none", chat(), "", "default"},
		{"one", chat(), "metadata.team", "metadata.team:search"},
		{"several", chat(), "metadata._user api_key", "metadata._user:alice-api_key:" + keyID},
		{"ids, not slugs", chat(), "workspace_id virtual_key config organisation_id", "workspace_id:" + workspaceID + "-virtual_key:" + acctID + "-config:" + configID + "-organisation_id:" + orgID},
		{"a model", chat(), "model provider", "model:openai.gpt-4o-provider:openai"},
		{"a part that is missing", chat(), "metadata.team prompt", ""},
		{"a part that is empty", chat(), "metadata.empty", ""},
	} {
		p := quota.UsageLimit{Conditions: []quota.Condition{is("api_key", "*")}}
		for _, g := range strings.Fields(c.groups) {
			p.GroupBy = append(p.GroupBy, quota.GroupBy{Key: quota.Key(g)})
		}
		h, applies := p.Compile("p").Match(c.call)
		if h.Counter.ValueKey != c.want || applies != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", c.name, h.Counter.ValueKey, applies, c.want)
		}
	}
	p := quota.UsageLimit{GroupBy: []quota.GroupBy{{Key: "metadata.team"}}}
	first, _ := p.Compile("p").Match(long)
	long.Metadata["team"] += "e"
	second, _ := p.Compile("p").Match(long)
	if n := len(first.Counter.ValueKey); n > quota.MaxValueKey || first.Counter == second.Counter {
		t.Errorf("a long value key has %d bytes, %q", n, first.Counter.ValueKey)
	}
}

// TestPolicyHolds: what a call takes from a policy.
func TestPolicyHolds(t *testing.T) {
	t.Parallel()
	any := []quota.Condition{is("api_key", "*")}
	budget := quota.UsageLimit{Name: "Team", Conditions: any, Budget: quota.Budget{Measure: quota.TokenCount, CreditLimit: 100 * quota.One, Mode: quota.Lenient}}
	p := &quota.Policies{
		Usage: []*quota.Policy{budget.Compile("u")},
		Rates: []*quota.Policy{
			(&quota.RateLimit{Conditions: any, Type: quota.Requests, Unit: quota.PerMinute, Value: 5}).Compile("r"),
			(&quota.RateLimit{Conditions: []quota.Condition{is("provider", "groq")}, Type: quota.Tokens, Unit: quota.PerDay, Value: 7}).Compile("t"),
		},
	}
	holds, rates := p.Match(chat(), nil, nil)
	if len(holds) != 1 || holds[0].Limit != 100 || !holds[0].Soft || holds[0].Measure != quota.TokenCount || holds[0].Unit != "" || *holds[0].Owner != (quota.Owner{Kind: quota.UsageLimitKind, ID: "u", Name: "Team"}) {
		t.Errorf("budgets %+v", holds)
	}
	if holds = rates; len(holds) != 1 || holds[0].Amount != 1 || !holds[0].Spent || holds[0].Unit != quota.PerMinute || holds[0].Counter != (quota.CounterID{Subject: "r", Entry: "requests/rpm", ValueKey: "default"}) {
		t.Errorf("rates %+v", holds)
	}
	p = nil
	if holds, rates = p.Match(chat(), nil, nil); len(holds)+len(rates) != 0 {
		t.Error("no policies have no holds")
	}
}

// A rate-limit policy that is given another unit counts in windows of that from then on, also
// for those who were counted before.
func TestPolicyOfAnotherUnit(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	var c call
	take := func(when time.Time, u quota.Unit) (refused int) {
		p := quota.RateLimit{Conditions: []quota.Condition{is("api_key", "*")}, Type: quota.Requests, Unit: u, Value: 2}
		h, _ := p.Compile("p").Match(chat())
		refused, _, _ = c.take(b, when, h)
		b.Settle(when, c.holds, nil)
		return refused
	}
	take(noon, quota.PerMinute)
	for i, want := range []int{-1, -1, 0} {
		if got := take(noon.Add(time.Duration(i)*time.Hour), quota.PerDay); got != want {
			t.Errorf("call %d of two a day: %d, want %d", i+1, got, want)
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	limits := quota.Limits{
		Budgets: quota.Budgets{{ID: "b", Measure: quota.Cost, CreditLimit: 3 * quota.One}},
		Rates:   []quota.Rate{{Type: quota.Tokens, Unit: quota.PerHour, Value: 9}, {Type: quota.Requests, Unit: quota.PerHour, Value: 0}},
	}
	p := quota.NewPlan(quota.Subject{Kind: quota.IntegrationWorkspace, ID: "in", WorkspaceID: "ws"}, "openai-main", limits)
	if len(p.Budgets) != 1 || p.Budgets[0].Counter != (quota.CounterID{Subject: "in", Entry: "b"}) || p.Budgets[0].Limit != 3_000_000_000 || p.Budgets[0].Owner.Name != "openai-main" {
		t.Errorf("budgets %+v", p.Budgets)
	}
	if len(p.Rates) != 2 || p.Rates[0].Counter != (quota.CounterID{Subject: "in/ws", Entry: "tokens/rph"}) || p.Rates[0].Spent || !p.Rates[1].Spent {
		t.Errorf("rates %+v", p.Rates)
	}
	if p := quota.NewPlan(quota.Subject{}, "", quota.Limits{}); p != quota.NoPlan() {
		t.Errorf("a carrier without limits has %+v", p)
	}
}

// TestMatchAllocatesNothing where a policy has met the value keys before, or does not apply.
func TestMatchAllocatesNothing(t *testing.T) {
	any := []quota.Condition{is("api_key", "*"), not(is("model", "@openai/*"), "@openai/gpt-3.5")}
	grouped := quota.RateLimit{Conditions: append(any, is("metadata.team", "ranking")), GroupBy: []quota.GroupBy{{Key: "metadata.team"}}, Type: quota.Requests, Unit: quota.PerMinute, Value: 5}
	plain := quota.RateLimit{Conditions: any, Type: quota.Requests, Unit: quota.PerMinute, Value: 5}
	met := quota.RateLimit{Conditions: any, GroupBy: []quota.GroupBy{{Key: "metadata.team"}, {Key: "model"}}, Type: quota.Requests, Unit: quota.PerMinute, Value: 5}
	p, c := &quota.Policies{Rates: []*quota.Policy{grouped.Compile("g"), plain.Compile("p"), met.Compile("m")}}, chat()
	buf := make([]quota.Hold, 0, 4)
	if n := testing.AllocsPerRun(100, func() { _, buf = p.Match(c, nil, buf[:0]) }); n != 0 || len(buf) != 2 {
		t.Errorf("%v allocations, %d holds", n, len(buf))
	}
}

// Value keys are those of the call, whatever the policy met before: more teams than it has
// at hand, and keys longer than those that it keeps.
func TestValueKeysAreOfTheCall(t *testing.T) {
	t.Parallel()
	limit := quota.RateLimit{Conditions: []quota.Condition{is("metadata.team", "*")}, GroupBy: []quota.GroupBy{{Key: "metadata.team"}}, Type: quota.Requests, Unit: quota.PerMinute, Value: 5}
	p := limit.Compile("g")
	for i := range 1000 {
		team := strings.Repeat("x", i%7*50) + strconv.Itoa(i%200)
		h, ok := p.Match(&quota.Call{Metadata: map[string]string{"team": team}})
		if want := "metadata.team:" + team; !ok || h.Counter.ValueKey != want {
			t.Fatalf("call %d is counted under %q, want %q", i, h.Counter.ValueKey, want)
		}
	}
}

func TestImpossible(t *testing.T) {
	t.Parallel()
	const uuid = "0191a000-0000-7000-8000-00000000000f"
	for _, c := range []struct {
		name       string
		conditions []quota.Condition
		param      string // of the refusal; empty: taken
	}{
		{"the only value is excluded", []quota.Condition{not(is("metadata.team", "a"), "a")}, "conditions[0].excludes"},
		{"all values are excluded", []quota.Condition{not(is("metadata.team", "a", "b"), "b", "c", "a")}, "conditions[0].excludes"},
		{"everything is excluded", []quota.Condition{not(is("metadata.team", "*"), "*")}, "conditions[0].excludes"},
		{"one of two is excluded", []quota.Condition{not(is("metadata.team", "a", "b"), "a")}, ""},
		{"some of any are excluded", []quota.Condition{not(is("metadata.team", "*"), "a", "b")}, ""},
		{"a model within the excluded ones", []quota.Condition{not(is("model", "@openai/gpt-4o"), "@openai/*")}, "conditions[0].excludes"},
		{"models within the excluded ones", []quota.Condition{not(is("model", "@a/b/*"), "@a/*")}, "conditions[0].excludes"},
		{"models with some excluded", []quota.Condition{not(is("model", "@openai/*"), "@openai/gpt-4o")}, ""},
		{"two values of one key", []quota.Condition{is("metadata.team", "a"), is("provider", "x"), is("metadata.team", "b")}, "conditions[2].value"},
		{"two lists with a common value", []quota.Condition{is("metadata.team", "a", "b"), is("metadata.team", "b", "c")}, ""},
		{"the common value is excluded", []quota.Condition{is("metadata.team", "a", "b"), not(is("metadata.team", "b", "c"), "b")}, "conditions[1].value"},
		{"three lists, common in pairs", []quota.Condition{is("provider", "a", "b"), is("provider", "b", "c"), is("provider", "c", "a")}, "conditions[2].value"},
		{"any value and one", []quota.Condition{is("provider", "*"), is("provider", "a")}, ""},
		{"a model and its provider's", []quota.Condition{is("model", "@openai/*"), is("model", "@openai/gpt-4o")}, ""},
		{"a model and another provider's", []quota.Condition{is("model", "@openai/*"), is("model", "@groq/gpt-4o")}, "conditions[1].value"},
		{"what may be slug and id of one", []quota.Condition{is("config", "pc-main"), is("config", uuid)}, ""},
		{"two slugs", []quota.Condition{is("config", "pc-main"), is("config", "pc-other")}, "conditions[1].value"},
		{"a model without its provider", []quota.Condition{is("model", "gpt-4o")}, "conditions[0].value"},
		{"a provider without a model", []quota.Condition{is("model", "@openai/")}, "conditions[0].value"},
		{"an excluded model without its provider", []quota.Condition{not(is("model", "*"), "gpt-4o")}, "conditions[0].excludes"},
		{"other keys", []quota.Condition{is("metadata.a", "x"), is("metadata.b", "y")}, ""},
	} {
		rate := quota.RateLimit{Conditions: c.conditions, Type: quota.Requests, Unit: quota.PerMinute, Value: 1}
		budget := quota.UsageLimit{Conditions: c.conditions, Budget: quota.Budget{CreditLimit: quota.One}}
		for _, err := range []error{rate.Validate(), budget.Validate()} {
			if f := fault.From(err); c.param == "" && err != nil || c.param != "" && (err == nil || f.Code != fault.InvalidParameter || f.Param != c.param) {
				t.Errorf("%s: %v, want a refusal at %q", c.name, err, c.param)
			}
		}
	}
}

// As many conditions of as many values as there may be, of which no call meets all, are
// refused without much ado.
func TestManyImpossible(t *testing.T) {
	conditions := make([]quota.Condition, quota.MaxValues)
	for i := range conditions {
		conditions[i].Key = "metadata.team"
		for j := range quota.MaxValues {
			name := "team" + strconv.Itoa(j)
			if i == len(conditions)-1 {
				name = "other" + name
			}
			conditions[i].Value = append(conditions[i].Value, name)
		}
	}
	p := quota.RateLimit{Conditions: conditions, Type: quota.Requests, Unit: quota.PerMinute, Value: 1}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := p.Validate(); !hasParam(err, "conditions[99].value") {
		t.Error(err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("it took %d bytes", after.TotalAlloc-before.TotalAlloc)
	}
}

// What is remembered of calls is what the policies say anew: calls that differ in what a
// policy looks at are told apart, however often they come.
func TestPoliciesRemember(t *testing.T) {
	t.Parallel()
	var all quota.Policies
	for i, conditions := range [][]quota.Condition{
		{is("metadata.team", "search")}, {is("provider", "openai")}, {is("model", "@openai/*")},
		{is("virtual_key", "openai-main")}, {is("virtual_key", acctID)},
	} {
		p := quota.UsageLimit{Conditions: conditions, GroupBy: []quota.GroupBy{{Key: "metadata.team"}, {Key: "model"}}}
		all.Usage = append(all.Usage, p.Compile("p"+strconv.Itoa(i)))
		r := quota.RateLimit{Conditions: conditions, GroupBy: []quota.GroupBy{{Key: "api_key"}}, Type: quota.Requests, Unit: quota.PerMinute, Value: 10}
		all.Rates = append(all.Rates, r.Compile("r"+strconv.Itoa(i)))
	}
	team := func(name string) map[string]string { return map[string]string{"team": name} }
	for round := range 4 {
		for name, change := range map[string]func(*quota.Call){
			"as it is":           func(*quota.Call) {},
			"another team":       func(c *quota.Call) { c.Metadata = team("billing") },
			"no team":            func(c *quota.Call) { c.Metadata = nil },
			"another key":        func(c *quota.Call) { c.KeyID = workspaceID },
			"another provider":   func(c *quota.Call) { c.Provider = "groq" },
			"another model":      func(c *quota.Call) { c.Model = "gpt-4o-mini" },
			"a slug without id":  func(c *quota.Call) { c.Account.ID = "" },
			"an id without slug": func(c *quota.Call) { c.Account.Slug = "" },
			"slug and id alike":  func(c *quota.Call) { c.Account.ID = c.Account.Slug },
			"a long team":        func(c *quota.Call) { c.Metadata = team(strings.Repeat("x", 3000)) },
		} {
			c := chat()
			change(c)
			budgets, rates := all.Match(c, nil, nil)
			for k, got := range [][]quota.Hold{budgets, rates} {
				var want []string
				for _, p := range [][]*quota.Policy{all.Usage, all.Rates}[k] {
					if h, ok := p.Match(c); ok {
						want = append(want, h.Counter.Subject+" "+h.Counter.ValueKey)
					}
				}
				var names []string
				for i := range got {
					names = append(names, got[i].Counter.Subject+" "+got[i].Counter.ValueKey)
				}
				if !slices.Equal(names, want) {
					t.Errorf("round %d, %s: %q, want %q", round, name, names, want)
				}
			}
		}
	}
}
