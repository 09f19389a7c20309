package routing_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/internal/domain/routing"
)

// breakerConfig is a fallback over @a and @b whose circuits open as cb says.
func breakerConfig(cb string) string {
	return branch(`{"mode":"fallback","cb_config":`+cb+`}`, `[{"provider":"@a"},{"provider":"@b"}]`)
}

const twoFailures = `{"failure_threshold":2,"cooldown_interval":30000}`

func TestBreakerOpensAndCloses(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		breakerConfig(twoFailures),
		`{"cb_config":` + twoFailures + `,` + branch(`{"mode":"fallback"}`, `[{"provider":"@a"},{"provider":"@b"}]`)[1:],
		branch(`{"mode":"fallback"}`, `[{"provider":"@a","cbConfig":`+twoFailures+`},{"provider":"@b"}]`),
	} {
		clk := newClock()
		e, cfg := routing.NewEngine(clk, draws()), parse(t, doc)
		down := upstreams{"@a": {Status: 503}}
		for i, want := range []string{"[@a @b]", "[@a @b]", "[@a @b]", "[@b]", "[@b]"} { // opens after more than two
			if tried, _, _ := down.run(t, e, cfg, nil); fmt.Sprint(tried) != want {
				t.Fatalf("%s\nwalk %d tried %v, want %s", doc, i, tried, want)
			}
		}
		opened := clk.Now()
		states := e.Breakers("org/config")
		want := routing.BreakerState{Scope: "org/config", Path: "config.targets[0]", State: routing.StateOpen, Failures: 3, OpenedAt: opened, ClosesAt: opened.Add(30 * time.Second)}
		if len(states) > 0 {
			want.Config = states[0].Config
		}
		if len(states) == 0 || len(want.Config) != 16 || states[0] != want {
			t.Errorf("states %+v", states)
		}
		clk.advance(30*time.Second - time.Millisecond)
		if tried, _, _ := down.run(t, e, cfg, nil); fmt.Sprint(tried) != "[@b]" {
			t.Errorf("before the cooldown's end: %v", tried)
		}
		clk.advance(time.Millisecond)
		var path string
		if _, out, _ := (upstreams{}).run(t, e, cfg, nil); out.Status == 200 {
			path = e.Breakers("org/config")[0].Path
		}
		if states := e.Breakers("org/config"); path != "config.targets[0]" || states[0].State != routing.StateClosed || states[0].Failures != 0 || states[0].Successes != 1 {
			t.Errorf("after the cooldown: %s %+v", path, states)
		}
	}
}

func TestBreakerCounts(t *testing.T) {
	t.Parallel()
	cut := errors.New("cut")
	rate := `{"failure_threshold":1000,"cooldown_interval":30000,"failure_threshold_percentage":50,"minimum_requests":4}`
	listed := `{"failure_threshold":1,"cooldown_interval":30000,"failure_status_codes":[429]}`
	plain := `{"failure_threshold":1,"cooldown_interval":30000}`
	ok, bad := routing.Outcome{Status: 200}, routing.Outcome{Status: 502}
	cases := []struct {
		name string
		cb   string
		outs []routing.Outcome
		open bool
	}{
		{"threshold itself", plain, []routing.Outcome{bad}, false},
		{"above", plain, []routing.Outcome{bad, bad}, true},
		{"successes between", plain, []routing.Outcome{bad, ok, ok, bad}, true},
		{"500 is none", plain, []routing.Outcome{{Status: 500}, {Status: 500}, {Status: 500}}, false},
		{"429 is none", plain, []routing.Outcome{{Status: 429}, {Status: 429}, {Status: 429}}, false},
		{"timeout", plain, []routing.Outcome{{Status: 408, Err: cut}, {Status: 408, Err: cut}}, true},
		{"no answer", plain, []routing.Outcome{{Err: cut}, {Err: cut}}, true},
		{"cut streams", plain, []routing.Outcome{{Status: 200, Committed: true, Err: cut}, {Status: 200, Committed: true, Err: cut}}, true},
		{"not served", plain, []routing.Outcome{{Status: 501, Skipped: true}, {Status: 501, Skipped: true}}, false},
		{"answered by the gateway", plain, []routing.Outcome{bad, {Status: 200, FromGateway: true}, bad}, true},
		{"client gone", plain, []routing.Outcome{{Final: true, Err: cut}, {Final: true, Err: cut}}, false},
		{"listed", listed, []routing.Outcome{{Status: 429}, {Status: 429}}, true},
		{"not listed", listed, []routing.Outcome{bad, bad, bad}, false},
		{"no answer despite the list", listed, []routing.Outcome{{Err: cut}, {Err: cut}}, true},
		{"rate below the minimum", rate, []routing.Outcome{bad, bad, bad}, false},
		{"rate at the limit", rate, []routing.Outcome{bad, ok, bad, ok}, false},
		{"rate above", rate, []routing.Outcome{ok, bad, bad, bad}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, cfg := routing.NewEngine(newClock(), draws()), parse(t, breakerConfig(c.cb))
			for _, out := range c.outs {
				upstreams{"@a": out}.run(t, e, cfg, nil)
			}
			tried, _, _ := upstreams{}.run(t, e, cfg, nil)
			if open := tried[0] == "@b"; open != c.open {
				t.Errorf("open %v: %+v", open, e.Breakers(""))
			}
		})
	}
}

// The share is that of the latest requests: successes before, however many, keep no target
// that fails now in use.
func TestBreakerShareIsOfLatestRequests(t *testing.T) {
	t.Parallel()
	const maxRequests = 200 // the latest requests, and one more of the others
	for _, served := range []int{150, 1_000, 20_000} {
		e, cfg := routing.NewEngine(newClock(), draws()), parse(t, breakerConfig(`{"failure_threshold":1000000,"cooldown_interval":30000,"failure_threshold_percentage":50,"minimum_requests":20}`))
		for range served {
			upstreams{"@a": {Status: 200}}.run(t, e, cfg, nil)
		}
		failed := 0
		for ; e.Breakers("")[0].State != routing.StateOpen && failed <= maxRequests; failed++ {
			upstreams{"@a": {Status: 502}}.run(t, e, cfg, nil)
		}
		if failed > maxRequests || failed < 50 {
			t.Errorf("after %d successes the circuit opens with failure %d", served, failed)
		}
	}
}

func TestBreakerForgetsOldFailures(t *testing.T) {
	t.Parallel()
	clk := newClock()
	e, cfg := routing.NewEngine(clk, draws()), parse(t, breakerConfig(twoFailures))
	for range 10 {
		upstreams{"@a": {Status: 503}}.run(t, e, cfg, nil)
		clk.advance(20 * time.Second)
	}
	if s := e.Breakers("")[0]; s.State != routing.StateClosed {
		t.Errorf("%+v", s)
	}
}

func TestBreakerIsBypassedWhenAllAreOpen(t *testing.T) {
	t.Parallel()
	down := upstreams{"@a": {Status: 503}, "@b": {Status: 503}}
	for _, mode := range []string{"fallback", "loadbalance"} {
		e := routing.NewEngine(newClock(), draws())
		cfg := parse(t, branch(`{"mode":"`+mode+`","cb_config":{"failure_threshold":1,"cooldown_interval":30000}}`, `[{"provider":"@a"},{"provider":"@b"}]`))
		for range 8 {
			down.run(t, e, cfg, nil)
		}
		for _, s := range e.Breakers("") {
			if s.State != routing.StateOpen {
				t.Errorf("%s: %+v", mode, s)
			}
		}
		if tried, out, _ := (upstreams{}).run(t, e, cfg, nil); len(tried) != 1 || tried[0] != "@a" || out.Status != 200 {
			t.Errorf("%s: tried %v", mode, tried)
		}
	}
}

func TestBreakerKeepsScopesApart(t *testing.T) {
	t.Parallel()
	e, cfg := routing.NewEngine(newClock(), draws()), parse(t, breakerConfig(twoFailures))
	for range 5 {
		upstreams{"@a": {Status: 503}}.run(t, e, cfg, nil)
	}
	var tried []string
	if _, err := e.Walk(t.Context(), cfg, "other", nil, note(&tried)); err != nil || tried[0] != "@a" {
		t.Errorf("tried %v", tried)
	}
	if n := len(e.Breakers("other")); n != 1 || len(e.Breakers("")) != 3 || len(e.Breakers("none")) != 0 {
		t.Errorf("%+v", e.Breakers(""))
	}
}

func TestBreakerKeepsConfigsApart(t *testing.T) {
	t.Parallel()
	e, down := routing.NewEngine(newClock(), draws()), upstreams{"@a": {Status: 503}}
	first, second := parse(t, breakerConfig(twoFailures)), parse(t, breakerConfig(twoFailures)+" ")
	for range 3 {
		down.run(t, e, first, nil)
	}
	if tried, _, _ := down.run(t, e, second, nil); tried[0] != "@a" {
		t.Errorf("tried %v", tried)
	}
	if open := e.OpenBreakers(); len(open) != 1 || open[0].Path != "config.targets[0]" {
		t.Errorf("open %+v", open)
	}
	for range 2 {
		down.run(t, e, second, nil)
	}
	if open, all := e.OpenBreakers(), e.Breakers("org/config"); len(open) != 1 || len(all) != 4 || all[0].Config == all[1].Config {
		t.Errorf("open %+v, all %+v", open, all)
	}
}

func TestBreakerOfBranches(t *testing.T) {
	t.Parallel()
	cb := `"cb_config":{"failure_threshold":1,"cooldown_interval":30000}`
	inner := branch(`{"mode":"loadbalance",`+cb+`}`, `[{"provider":"@a"},{"provider":"@b"}]`)
	e, cfg := routing.NewEngine(newClock(), draws(0, 0, 0.9, 0.9)), parse(t, branch(`{"mode":"fallback"}`, `[`+inner+`,{"provider":"@c"}]`))
	down := upstreams{"@a": {Status: 503}, "@b": {Status: 503}}
	want := [][]string{{"@a", "@c"}, {"@a", "@c"}, {"@b", "@c"}, {"@b", "@c"}, {"@c"}}
	for i, w := range want { // once all leaves of the branch are open, so is the branch
		if tried, _, _ := down.run(t, e, cfg, nil); !slices.Equal(tried, w) {
			t.Fatalf("walk %d tried %v, want %v", i, tried, w)
		}
	}
}

func TestConditionalEvaluatesNoBreaker(t *testing.T) {
	t.Parallel()
	e := routing.NewEngine(newClock(), draws())
	cfg := parse(t, branch(`{"mode":"conditional","cb_config":`+twoFailures+`,"conditions":[{"query":{"params.x":{"$ne":1}},"then":"a"}],"default":"b"}`, two))
	for range 6 {
		if tried, _, _ := (upstreams{"@a": {Status: 503}}).run(t, e, cfg, nil); tried[0] != "@a" {
			t.Fatalf("tried %v", tried)
		}
	}
	if s := e.Breakers(""); len(s) != 0 {
		t.Errorf("%+v", s)
	}
}
