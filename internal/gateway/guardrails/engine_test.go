package guardrails_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/guardrails"
)

// The failure of a check counts as failOnError of the check defines. Without it, an enforced guardrail that
// denies fails closed, and others follow the rule of the check.
func TestRun_AppliesTheFailureRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		check                                      string
		inline, inlineDeny, enforced, enforcedDeny bool // the verdict
	}{
		{"pass", true, true, true, true},
		{"fail", false, false, false, false},
		{"error", true, true, true, false},
		{"open", true, true, true, false},
		{"closed", false, false, false, false},
		{"panic", true, true, true, false},
		{`error {"failOnError":false}`, true, true, true, true},
		{`error {"failOnError":true}`, false, false, false, false},
		{`closed {"failOnError":false}`, true, true, true, true},
		{`open {"failOnError":true}`, false, false, false, false},
		{`panic {"failOnError":true}`, false, false, false, false},
		{"unknown", true, true, true, false},
	} {
		b := newBench(t)
		b.save("free", guardrail.Actions{}, c.check)
		b.save("denying", guardrail.Actions{Deny: true}, c.check)
		denying := hook("inline", c.check)
		denying.Deny = true
		for name, w := range map[string]struct {
			hooks      []*guardrails.Hook
			want, deny bool
		}{
			"inline":          {b.hooks(hook("inline", c.check)), c.inline, false},
			"inline deny":     {b.hooks(denying), c.inlineDeny, true},
			"enforced":        {b.defaults("free"), c.enforced, false},
			"enforced deny":   {b.defaults("denying"), c.enforcedDeny, true},
			"named by config": {b.hooks(routing.Hook{ID: "denying"}), c.inlineDeny, true},
		} {
			out := b.run(chatCall(), w.hooks, greeting)
			if out.Results[0].Verdict != w.want || out.Denied != (w.deny && !w.want) || out.Failed != (!w.deny && !w.want) {
				t.Errorf("%s, %s: %s, want %v", c.check, name, describe(out), w.want)
			}
		}
	}
}

// A check that exceeds its time is an error, and the end of the call ends the run.
func TestRun_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.engine.Run(ctx, b.hooks(hook("h", "pass")), chatCall(), guardrail.Input, 0, []byte(greeting)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// In parallel, checks read the same texts and their edits are merged. In sequence, each reads the texts
// that the one before it left. Checks that redact read all messages, others those in scope.
func TestRun_OrdersChecks(t *testing.T) {
	t.Parallel()
	sequential := func(h routing.Hook) routing.Hook { h.Sequential = true; return h }
	scoped := func(h routing.Hook, scope string) routing.Hook { h.Scope = scope; return h }
	for name, c := range map[string]struct {
		hooks []routing.Hook
		want  string // the texts of the changed body
		ran   []string
	}{
		"parallel, overlapping": {[]routing.Hook{hook("h", "first", "name", "rest")}, "Help [NAME]|Hi, I am [NAME]|Hi",
			[]string{"first: Help Ann Lee!|Hi, I am Ann Lee!|Hi", "name: Help Ann Lee!|Hi, I am Ann Lee!|Hi", "rest: Help Ann Lee!|Hi, I am Ann Lee!|Hi"}},
		"sequential": {[]routing.Hook{sequential(hook("h", "first", "name", "rest"))}, "Help [FIRST] [REST]|Hi, I am [FIRST] [REST]|Hi",
			[]string{"first: Help Ann Lee!|Hi, I am Ann Lee!|Hi", "name: Help [FIRST] Lee!|Hi, I am [FIRST] Lee!|Hi", "rest: Help [FIRST] Lee!|Hi, I am [FIRST] Lee!|Hi"}},
		"two hooks": {[]routing.Hook{hook("a", "name"), hook("b", "first", "rest")}, "Help [NAME]!|Hi, I am [NAME]!|Hi",
			[]string{"name: Help Ann Lee!|Hi, I am Ann Lee!|Hi", "first: Help [NAME]!|Hi, I am [NAME]!|Hi", "rest: Help [NAME]!|Hi, I am [NAME]!|Hi"}},
		"rewriters first": {[]routing.Hook{hook("h", "first", "rewrite")}, "Help [FIRST] Lee!|Hello, I am [FIRST] Lee!|Hi",
			[]string{"rewrite: Hi", "first: Help Ann Lee!|Hello, I am Ann Lee!|Hi"}},
		"scope": {[]routing.Hook{scoped(hook("h", "pass", "first"), "last_message")}, "Help [FIRST] Lee!|Hi, I am [FIRST] Lee!|Hi",
			[]string{"pass: Hi", "first: Help Ann Lee!|Hi, I am Ann Lee!|Hi"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			out := b.run(chatCall(), b.hooks(c.hooks...), greeting)
			if got := b.took(); !slices.Equal(got, c.ran) {
				t.Errorf("ran %q, want %q", got, c.ran)
			}
			for _, text := range strings.Split(c.want, "|") {
				if !strings.Contains(string(out.Body), `"`+text+`"`) {
					t.Errorf("body %s lacks %q", out.Body, text)
				}
			}
		})
	}
}

// A change that does not lie in a text denies the call: it is not forwarded as if it were redacted.
func TestRun_DeniesWhatItCannotRedact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out := b.run(chatCall(), b.hooks(hook("h", "outside")), greeting)
	if !out.Denied || !out.Unredacted || !out.Results[0].Deny {
		t.Errorf("%s, unredacted %v", describe(out), out.Unredacted)
	}
}

// Reversible changes become placeholders. An overlapping irreversible one wins, and values of the
// instructions are not restored.
func TestRun_HidesReversibly(t *testing.T) {
	t.Parallel()
	const reversible = ` {"redact":"reversible"}`
	for name, c := range map[string]struct {
		checks       []string
		vault        bool
		want, absent string
		restored     string // of the response "<text of the user>"
	}{
		"reversible":              {[]string{"name" + reversible}, true, "[NAME_", "Ann", "Hi, I am Ann Lee!"},
		"without a vault":         {[]string{"name" + reversible}, false, "[NAME]", "Ann", "Hi, I am [NAME]!"},
		"irreversible inside":     {[]string{"name" + reversible, "first"}, true, "[FIRST]", "Ann", "Hi, I am [FIRST]!"},
		"irreversible overlaps":   {[]string{"name" + reversible, "rest"}, true, "[REST]", "Ann", "Hi, I am [REST]"},
		"reversible in both":      {[]string{"name" + reversible, "rest" + reversible}, true, "[NAME_", "Ann", "Hi, I am Ann Lee!"},
		"reversible after others": {[]string{"first", "rest" + reversible}, true, "[FIRST] [REST_", "Ann", "Hi, I am [FIRST] Lee!"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, call := newBench(t), chatCall()
			v := newVault()
			if c.vault {
				call.Vault = v
			}
			out := b.run(call, b.hooks(hook("h", c.checks...)), greeting)
			body := string(out.Body)
			if !strings.Contains(body, c.want) || strings.Contains(body, c.absent) {
				t.Errorf("body %s", body)
			}
			_, user, _ := strings.Cut(body, `{"role":"user","content":"`)
			user, _, _ = strings.Cut(user, `"`)
			if got := v.Restore(user); got != c.restored {
				t.Errorf("restored %q, want %q", got, c.restored)
			}
		})
	}
}

// costOf returns what the checks of an outcome cost, in nano-dollars.
func costOf(o *guardrails.Outcome) (nano int64) {
	for _, r := range o.Results {
		for _, c := range r.Checks {
			nano += c.CostNano
		}
	}
	return nano
}

// Paid hooks run last, not at all after a denial, and only if the call is affordable. Their results are
// used again for the same body.
func TestRun_PaysOnceAndLast(t *testing.T) {
	t.Parallel()
	b, memo := newBench(t), new(guardrails.Memo)
	affordabilityChecks := 0
	call := func() *guardrails.Call {
		c := chatCall()
		c.Memo, c.BeforePaid = memo, func(int64) error { affordabilityChecks++; return nil }
		return c
	}
	hooks := b.hooks(hook("paid", "paidFail"), hook("free", "pass"))
	first := b.run(call(), hooks, greeting)
	if ran := b.took(); !isOrdered(ran, "pass", "paidFail") || affordabilityChecks != 1 || costOf(first) != 5 {
		t.Errorf("ran %q, affordabilityChecks %d times, cost %d", ran, affordabilityChecks, costOf(first))
	}
	second := b.run(call(), hooks, greeting)
	if ran := b.took(); len(ran) != 1 || costOf(second) != 0 || second.Results[0].Verdict {
		t.Errorf("again: ran %q, cost %d, %s", ran, costOf(second), describe(second))
	}
	b.run(call(), hooks, strings.Replace(greeting, "Hi", "Ho", 1))
	if ran := b.took(); len(ran) != 2 {
		t.Errorf("another body: ran %q", ran)
	}
	denying := hook("free", "fail")
	denying.Deny = true
	out := b.run(call(), b.hooks(hook("paid", "paidPass"), denying), greeting)
	if ran := b.took(); !slices.Equal(ran, []string{"fail: Hi"}) || !out.Denied || !out.Results[0].Skipped {
		t.Errorf("after a denial: ran %q, %s", ran, describe(out))
	}
	broke := chatCall()
	broke.BeforePaid = func(int64) error { return errors.New("no money") }
	if _, err := b.engine.Run(t.Context(), b.hooks(hook("paid", "paidPass")), broke, guardrail.Input, 0, []byte(greeting)); err == nil || len(b.took()) > 0 {
		t.Errorf("without money: %v", err)
	}
}

// A stream is judged in windows where the checks can, held where a denial or a change needs the whole
// answer, and only reported on otherwise.
func TestStreamMode_FollowsTheChecks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deny, async   bool
		stream, check string
		want          string
	}{
		{false, false, "", "pass", guardrails.StreamReport},
		{true, false, "", "pass", guardrails.StreamWindow},
		{true, false, "", "error", guardrails.StreamHold},
		{false, false, "", "name", guardrails.StreamWindow},
		{false, false, "", "rest", guardrails.StreamHold},
		{true, true, "", "pass", guardrails.StreamReport},
		{true, false, "hold", "pass", guardrails.StreamHold},
		{true, false, "report", "pass", guardrails.StreamReport},
		{true, false, "window", "error", guardrails.StreamHold},
		{false, false, "window", "pass", guardrails.StreamWindow},
	} {
		h := hook("h", c.check)
		h.Deny, h.Async, h.Stream = c.deny, c.async, c.stream
		if got := newBench(t).hooks(h)[0].StreamMode(); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// The version of a hook changes with everything that decides about its verdicts.
func TestVersions_ChangeWithTheHook(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.save("saved", guardrail.Actions{}, "pass")
	versions := func(scope *tenant.Scope, list ...routing.Hook) string {
		return strings.Join(b.engine.Hooks(b, "w", scope, &routing.Target{Before: list}).Versions(), " ")
	}
	base := hook("h", "pass", "fail")
	seen := map[string]string{versions(nil, base): "base"}
	if again := hook("h", "pass", "fail"); seen[versions(nil, again)] == "" {
		t.Error("equal hooks have different versions")
	}
	for name, change := range map[string]func(h *routing.Hook){
		"check":          func(h *routing.Hook) { h.Checks = hook("h", "pass", "open").Checks },
		"parameters":     func(h *routing.Hook) { h.Checks = hook("h", "pass", `fail {"not":true}`).Checks },
		"disabled check": func(h *routing.Hook) { h.Checks = hook("h", "pass", "fail").Checks; h.Checks[1].Enabled = false },
		"deny":           func(h *routing.Hook) { h.Deny = true },
		"sequential":     func(h *routing.Hook) { h.Sequential = true },
		"scope":          func(h *routing.Hook) { h.Scope = "all" },
		"stream":         func(h *routing.Hook) { h.Stream = "hold" },
		"saved":          func(h *routing.Hook) { *h = routing.Hook{ID: "saved"} },
		"saved, denying": func(h *routing.Hook) { *h = routing.Hook{ID: "saved", Deny: true} },
	} {
		h := hook("h", "pass", "fail")
		change(&h)
		got := versions(nil, h)
		if other := seen[got]; other != "" {
			t.Errorf("%s has the version of %s: %s", name, other, got)
		}
		seen[got] = name
	}
	if got := versions(&tenant.Scope{InputGuardrails: []string{"saved"}}); got != "input:saved@1" {
		t.Errorf("a default: %s", got)
	}
}

// A response that was judged as input only, or by mutators in another order, does not answer callers
// whose guardrails judge the output.
func TestVersions_NameThePhaseAndTheOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.save("saved", guardrail.Actions{}, "pass")
	versions := func(before, after []string) string {
		return strings.Join(b.engine.Hooks(b, "w", &tenant.Scope{InputGuardrails: before, OutputGuardrails: after}, &routing.Target{}).Versions(), " ")
	}
	one := []string{"saved"}
	seen := map[string]bool{versions(one, nil): true, versions(nil, one): true, versions(one, one): true}
	if len(seen) != 3 {
		t.Errorf("phases share a version: %v", seen)
	}
	first, second := hook("a", "name"), hook("b", "first")
	forth := b.engine.Hooks(b, "w", nil, &routing.Target{After: []routing.Hook{first, second}}).Versions()
	back := b.engine.Hooks(b, "w", nil, &routing.Target{After: []routing.Hook{second, first}}).Versions()
	if slices.Equal(forth, back) {
		t.Errorf("the order does not count: %q", forth)
	}
}

// A hook that a config defines cannot answer for a guardrail of the organisation by taking its id and
// version: its verdict is not used again for the guardrail.
func TestRun_VerdictsOfAnotherHookAreNotReused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.save("saved", guardrail.Actions{Deny: true}, "paidFail")
	imitation := hook("saved", "paidPass", "rest") // a check that redacts: the hook runs before the others
	imitation.Type, imitation.VersionID = routing.Mutator, "1"
	set := b.engine.Hooks(b, "w", &tenant.Scope{InputGuardrails: []string{"saved"}}, &routing.Target{Before: []routing.Hook{imitation}})
	c := chatCall()
	c.Memo = new(guardrails.Memo)
	const plain = `{"messages":[{"role":"user","content":"Hi"}]}`
	if out := b.run(c, set.Before, plain); !out.Denied {
		t.Errorf("ran %q, %s", b.took(), describe(out))
	}
	narrow, wide := hook("judge", "paidPass"), hook("judge", "paidFail")
	c = chatCall()
	c.Memo = new(guardrails.Memo)
	b.run(c, b.hooks(narrow), greeting)
	if out := b.run(c, b.hooks(wide), greeting); !out.Failed {
		t.Errorf("the verdict of another target's hook was used: ran %q, %s", b.took(), describe(out))
	}
}

// A config makes a saved guardrail stricter, not weaker: "async": false and "deny": true make the call wait for it,
// "deny": false and "async": true change nothing about one that denies, and an absent field changes nothing.
func TestHooks_ConfigCannotWeakenASavedGuardrail(t *testing.T) {
	t.Parallel()
	type fields struct{ deny, async, sequential, soft bool }
	for _, c := range []struct {
		name  string
		saved guardrail.Actions
		use   routing.Hook
		want  fields
	}{
		{"asynchronous", guardrail.Actions{Async: true}, routing.Hook{}, fields{async: true}},
		{"asynchronous, awaited by the config", guardrail.Actions{Async: true}, routing.Hook{Sync: true}, fields{}},
		{"asynchronous, denying in the config", guardrail.Actions{Async: true}, routing.Hook{Deny: true}, fields{deny: true}},
		{"asynchronous and denying, denying in the config", guardrail.Actions{Async: true, Deny: true}, routing.Hook{Deny: true}, fields{deny: true}},
		{"asynchronous and denying", guardrail.Actions{Async: true, Deny: true}, routing.Hook{}, fields{deny: true, async: true}},
		{"asynchronous, denying and asynchronous in the config", guardrail.Actions{Async: true}, routing.Hook{Deny: true, Async: true}, fields{deny: true}},
		{"asynchronous, denying and awaited by the config", guardrail.Actions{Async: true}, routing.Hook{Sync: true, Deny: true}, fields{deny: true}},
		{"awaited", guardrail.Actions{}, routing.Hook{Sync: true}, fields{}},
		{"awaited, asynchronous in the config", guardrail.Actions{}, routing.Hook{Async: true}, fields{async: true}},
		{"denying, asynchronous in the config", guardrail.Actions{Deny: true}, routing.Hook{Async: true}, fields{deny: true}},
		{"in order in the config", guardrail.Actions{}, routing.Hook{Sequential: true}, fields{sequential: true}},
		{"in order", guardrail.Actions{Sequential: true}, routing.Hook{}, fields{sequential: true}},
		{"denying, with status 200 in the config", guardrail.Actions{Deny: true}, routing.Hook{SoftDeny200: true}, fields{deny: true, soft: true}},
	} {
		b := newBench(t)
		b.save("saved", c.saved, "fail")
		c.use.ID, c.use.Type = "saved", routing.Guardrail
		h := b.hooks(c.use)[0]
		if got := (fields{h.Deny, h.Async, h.Sequential, h.SoftDeny}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
