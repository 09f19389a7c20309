package guardrails_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
)

// bench is an engine with checks of the tests, and a list of the checks that ran.
type bench struct {
	t       *testing.T
	engine  *guardrails.Engine
	metrics *guardrails.Metrics
	saved   map[string]*guardrail.Saved

	mu  sync.Mutex // guards ran
	ran []string   // "check: texts"
}

// runner is a check of the tests.
type runner struct {
	bench    *bench
	id       string
	params   check.Params
	redacts  bool
	rewrites bool
	window   int
	run      func(in *check.Input) check.Result
}

func (r *runner) Redacts() bool  { return r.redacts }
func (r *runner) Rewrites() bool { return r.rewrites }
func (r *runner) Window() int    { return r.window }

func (r *runner) Run(_ context.Context, in *check.Input) check.Result {
	r.bench.mu.Lock()
	r.bench.ran = append(r.bench.ran, r.id+": "+strings.Join(in.Texts, "|"))
	r.bench.mu.Unlock()
	return r.run(in)
}

// replace replaces a word in all texts.
func replace(word, with, kind string) func(in *check.Input) check.Result {
	return func(in *check.Input) check.Result {
		out := check.Result{Verdict: true}
		for i, text := range in.Texts {
			for at := 0; ; {
				found := strings.Index(text[at:], word)
				if found < 0 {
					break
				}
				at += found
				out.Edits = append(out.Edits, check.Edit{Text: i, Start: at, End: at + len(word), With: with, Kind: kind})
				at += len(word)
			}
		}
		return out
	}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, saved: make(map[string]*guardrail.Saved)}
	catalog := guardrails.NewCatalog([]check.Check{
		b.check("pass", runner{window: 10, run: func(*check.Input) check.Result { return check.Pass }}),
		b.check("fail", runner{window: 10, run: func(*check.Input) check.Result { return check.Fail }}),
		b.check("error", runner{run: func(*check.Input) check.Result { return check.Failed("Check error", "broken") }}),
		b.check("open", runner{run: func(*check.Input) check.Result {
			return check.Result{Verdict: true, ErrorDecides: true, Error: &check.Error{Name: "Check error"}}
		}}),
		b.check("closed", runner{run: func(*check.Input) check.Result {
			return check.Result{ErrorDecides: true, Error: &check.Error{Name: "Check error"}}
		}}),
		b.check("panic", runner{run: func(*check.Input) check.Result { panic("a bug") }}),
		b.check("name", runner{redacts: true, window: 10, run: replace("Ann Lee", "[NAME]", "NAME")}),
		b.check("first", runner{redacts: true, window: 10, run: replace("Ann", "[FIRST]", "FIRST")}),
		b.check("rest", runner{redacts: true, run: replace("Lee!", "[REST]", "REST")}),
		b.check("outside", runner{redacts: true, run: func(*check.Input) check.Result {
			return check.Result{Verdict: true, Edits: []check.Edit{{Start: 2, End: 10_000, With: "x"}}}
		}}),
		b.check("rewrite", runner{rewrites: true, run: func(in *check.Input) check.Result {
			return check.Result{Verdict: true, Body: []byte(strings.Replace(string(in.Body), "Hi", "Hello", 1))}
		}}),
		b.paid("paidPass", check.Pass),
		b.paid("paidFail", check.Fail),
		b.unpaid("unpaidRewrite"),
	})
	b.metrics = guardrails.NewMetrics()
	b.engine = guardrails.New(catalog, &check.Deps{}, ident.System{}, b.metrics, slog.New(slog.DiscardHandler))
	return b
}

func (b *bench) check(name string, r runner) check.Check {
	id := "default." + name
	return check.Check{
		Definition: guardrail.Definition{ID: id, Phases: []guardrail.Phase{guardrail.Input, guardrail.Output}, Open: true, Params: []param.Param{param.Not}},
		New: func(p check.Params, _ *check.Deps) (check.Runner, error) {
			now := r
			now.bench, now.id, now.params = b, name, p
			return &now, nil
		},
	}
}

// paid is a check that costs 5 nano-dollars.
func (b *bench) paid(name string, result check.Result) check.Check {
	result.CostNano = 5
	c := b.check(name, runner{run: func(*check.Input) check.Result { return result }})
	c.Paid = true
	return c
}

// FindGuardrail implements guardrails.Directory.
func (b *bench) FindGuardrail(_, name string) *guardrail.Saved { return b.saved[name] }

// save adds a saved guardrail.
func (b *bench) save(slug string, a guardrail.Actions, checks ...string) {
	g := &guardrail.Saved{ID: "id of " + slug, Slug: slug, VersionID: "1", Actions: a}
	for _, c := range checks {
		id, params, _ := strings.Cut(c, " ")
		g.Checks = append(g.Checks, guardrail.Check{ID: "default." + id, Parameters: json.RawMessage(params)})
	}
	b.saved[slug] = g
}

// hook returns a hook of a config with checks: "name" or `name {"redact":"reversible"}`.
func hook(id string, checks ...string) routing.Hook {
	h := routing.Hook{ID: id, Type: routing.Guardrail}
	for _, c := range checks {
		name, params, _ := strings.Cut(c, " ")
		if params == "" {
			params = "{}"
		}
		h.Checks = append(h.Checks, routing.Check{ID: "default." + name, Parameters: json.RawMessage(params), Enabled: true})
	}
	return h
}

// hooks compiles the input hooks of a config.
func (b *bench) hooks(list ...routing.Hook) []*guardrails.Hook {
	set := b.engine.Hooks(b, "w", nil, &routing.Target{Before: list})
	if set == nil {
		return nil
	}
	return set.Before
}

// defaults compiles a saved guardrail as a default of the workspace.
func (b *bench) defaults(names ...string) []*guardrails.Hook {
	return b.engine.Hooks(b, "w", &tenant.Scope{InputGuardrails: names}, &routing.Target{}).Before
}

const greeting = `{"model":"m","messages":[{"role":"system","content":"Help Ann Lee!"},{"role":"user","content":"Hi, I am Ann Lee!"},{"role":"user","content":"Hi"}]}`

func chatCall() *guardrails.Call { return &guardrails.Call{Endpoint: llm.ChatComplete} }

// run runs hooks on a request.
func (b *bench) run(c *guardrails.Call, hooks []*guardrails.Hook, body string) *guardrails.Outcome {
	b.t.Helper()
	out, err := b.engine.Run(b.t.Context(), hooks, c, guardrail.Input, 0, []byte(body))
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// took returns the checks that ran since the last call of it.
func (b *bench) took() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.ran
	b.ran = nil
	return out
}

func newVault() *placeholder.Vault {
	return placeholder.NewVault([]byte("secret of the tests"), placeholder.Scope{Caller: "ann"})
}

func describe(out *guardrails.Outcome) string {
	s := fmt.Sprintf("denied=%v failed=%v", out.Denied, out.Failed)
	for _, r := range out.Results {
		s += fmt.Sprintf(" %s=%v", r.ID, r.Verdict)
	}
	return s
}

func isOrdered(list []string, names ...string) bool {
	at := 0
	for _, name := range names {
		i := slices.IndexFunc(list[at:], func(s string) bool { return strings.HasPrefix(s, name+":") })
		if i < 0 {
			return false
		}
		at += i + 1
	}
	return true
}
