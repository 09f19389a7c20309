package routing_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/routing"
)

// prefers is a request that prefers the target of a provider. It notes the providers that it chose from.
type prefers struct {
	request
	provider string
	offered  *[]string
}

func (p prefers) Prefer(targets []*routing.Target) int {
	for _, t := range targets {
		*p.offered = append(*p.offered, t.Provider)
	}
	return slices.IndexFunc(targets, func(t *routing.Target) bool { return t.Provider == p.provider })
}

// A strategy uses the preferred target among those with "provider_cache": "auto" that can take the call.
func TestWalkPrefersATarget(t *testing.T) {
	t.Parallel()
	const auto = `"provider_cache":"auto",`
	balance := `{` + auto + `"strategy":{"mode":"loadbalance"},"targets":[{"provider":"@a"},{"provider":"@b"},{"provider":"@c","weight":0},{"provider":"@d","provider_cache":"off"}]}`
	fallback := `{` + auto + `"strategy":{"mode":"fallback"},"targets":[{"provider":"@a"},{"provider":"@b"},{"provider":"@c"}]}`
	nested := `{` + auto + `"strategy":{"mode":"fallback"},"targets":[{"provider":"@a"},{"strategy":{"mode":"loadbalance"},"targets":[{"provider":"@b"},{"provider":"@c"},{"provider":"@d","weight":0}]}]}`
	for _, c := range []struct{ name, doc, prefer, offered, tried string }{
		{"loadbalance", balance, "@b", "@a @b", "@b"},
		{"none preferred", balance, "@x", "@a @b", "@a"},
		{"drained", balance, "@c", "@a @b", "@a"},
		{"switched off", balance, "@d", "@a @b", "@a"},
		{"fallback", fallback, "@b", "@a @b @c", "@b"},
		{"fallback in order", fallback, "@a", "@a @b @c", "@a"},
		{"below a branch", nested, "@c", "@a @b @c @b @c", "@c"},
		{"drained below a branch", nested, "@d", "@a @b @c", "@a"},
		{"without the setting", strings.Replace(fallback, auto, "", 1), "@b", "", "@a"},
	} {
		var offered []string
		tried, _, err := upstreams{}.run(t, routing.NewEngine(newClock(), draws()), parse(t, c.doc), prefers{provider: c.prefer, offered: &offered})
		if got := strings.Join(offered, " "); err != nil || got != c.offered {
			t.Errorf("%s: chose from %q, want %q, %v", c.name, got, c.offered, err)
		}
		if got := strings.Join(tried, " "); got != c.tried {
			t.Errorf("%s: tried %q, want %q", c.name, got, c.tried)
		}
	}
}

// After a preferred target fails, a fallback tries the others in their order. Once its circuit is open,
// it is not preferred.
func TestWalkLeavesAPreferredTargetThatFails(t *testing.T) {
	t.Parallel()
	c := parse(t, `{"provider_cache":"auto","strategy":{"mode":"fallback","cb_config":{"failure_threshold":1,"cooldown_interval":30000}},"targets":[{"provider":"@a"},{"provider":"@b"},{"provider":"@c"}]}`)
	clock := newClock()
	e, ups := routing.NewEngine(clock, draws()), upstreams{"@b": {Status: 503}}
	run := func() string {
		var offered []string
		tried, _, _ := ups.run(t, e, c, prefers{provider: "@b", offered: &offered})
		return strings.Join(tried, " ")
	}
	for i, want := range []string{"@b @a", "@b @a", "@a"} {
		if got := run(); got != want {
			t.Errorf("call %d tried %q, want %q", i, got, want)
		}
	}
	clock.advance(time.Minute)
	delete(ups, "@b")
	if got := run(); got != "@b" {
		t.Errorf("after the cooldown: %q", got)
	}
}

// An assignment of a caller takes precedence over a preferred target.
func TestWalkKeepsAStickyTarget(t *testing.T) {
	t.Parallel()
	c := parse(t, `{"provider_cache":"auto","strategy":{"mode":"loadbalance","sticky":{"enabled":true,"hash_fields":["metadata.u"]}},"targets":[{"provider":"@a"},{"provider":"@b"}]}`)
	e := routing.NewEngine(newClock(), draws())
	var offered []string
	f := prefers{request: request{metadata: map[string]string{"u": "1"}}, provider: "@x", offered: &offered}
	first, _, _ := upstreams{}.run(t, e, c, f)
	f.provider = "@b"
	second, _, _ := upstreams{}.run(t, e, c, f)
	if first[0] != "@a" || second[0] != "@a" {
		t.Errorf("%v, then %v", first, second)
	}
}

// A destination identifies provider, credentials, host and model, and nothing else of a target.
func TestDestinationIdentifiesProviderHostAndModel(t *testing.T) {
	t.Parallel()
	const base = `{"provider":"azure-openai","api_key":"k","azure_resource_name":"r","azure_deployment_id":"d"}`
	destination := func(doc string) string { return parse(t, doc).Root.Target.Destination() }
	for _, doc := range []string{base, strings.Replace(base, `{`, `{"weight":0,"retry":{"attempts":3},"default_params":{"top_p":1},`, 1)} {
		if destination(doc) != destination(base) {
			t.Errorf("%s is another destination", doc)
		}
	}
	for _, doc := range []string{
		strings.Replace(base, "azure-openai", "openai", 1), strings.Replace(base, `"k"`, `"k2"`, 1), strings.Replace(base, `"r"`, `"r2"`, 1),
		strings.Replace(base, `{`, `{"custom_host":"https://h",`, 1), strings.Replace(base, `{`, `{"override_params":{"model":"m"},`, 1),
		strings.Replace(base, `{`, `{"default_params":{"model":"m"},`, 1),
	} {
		if destination(doc) == destination(base) {
			t.Errorf("%s is the same destination", doc)
		}
	}
}
