package routing_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/domain/routing"
)

// tree draws a config of up to depth further levels and counts its leaves.
func tree(t *rapid.T, depth int, leaves *int) string {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
		*leaves++
		return fmt.Sprintf(`{"name":"n","provider":"@%d","weight":%d}`, *leaves, rapid.IntRange(1, 3).Draw(t, "weight"))
	}
	strategy := rapid.SampledFrom([]string{
		`{"mode":"single"}`, `{"mode":"fallback"}`, `{"mode":"fallback","on_status_codes":[429,500]}`,
		`{"mode":"loadbalance"}`, `{"mode":"loadbalance","policy":"round_robin"}`,
		`{"mode":"loadbalance","policy":"least_latency"}`, `{"mode":"loadbalance","policy":"least_busy","sticky":{"enabled":true,"hash_fields":["metadata.u"]}}`,
		`{"mode":"conditional","conditions":[{"query":{"metadata.u":"x"},"then":"n"}]}`,
	}).Draw(t, "strategy")
	n := rapid.IntRange(1, 4).Draw(t, "targets")
	if strings.Contains(strategy, "conditional") {
		n = 1 // names are all the same here
	}
	targets := make([]string, n)
	for i := range targets {
		targets[i] = tree(t, depth-1, leaves)
	}
	return `{"name":"n","cb_config":{"failure_threshold":1,"cooldown_interval":30000},` + branch(strategy, "["+strings.Join(targets, ",")+"]")[1:]
}

func TestEveryWalkTriesATargetAtMostOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		leaves := 0
		doc := tree(t, 3, &leaves)
		cfg, err := routing.Parse([]byte(doc), routing.Limits{NestedTargets: 1000})
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		if len(cfg.Leaves()) != leaves {
			t.Fatalf("%d leaves, want %d", len(cfg.Leaves()), leaves)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		rnd := rand.New(rand.NewPCG(seed, 2))
		e := routing.NewEngine(newClock(), rnd.Float64)
		statuses := []int{200, 200, 429, 500, 503, 0}
		for range 20 { // with the memory of the walks before
			tried := map[string]bool{}
			last := routing.Outcome{}
			out, err := e.Walk(context.Background(), cfg, "s", request{metadata: map[string]string{"u": "x"}}, func(_ context.Context, target *routing.Target) routing.Outcome {
				if tried[target.Path] {
					t.Fatalf("%s: %s was tried twice", doc, target.Path)
				}
				if last.Status == 200 && !last.Skipped {
					t.Fatalf("%s: %s was tried after a good one", doc, target.Path)
				}
				tried[target.Path] = true
				last = routing.Outcome{Status: statuses[rnd.IntN(len(statuses))], Skipped: rnd.IntN(10) == 0}
				return last
			})
			if err != nil || len(tried) == 0 || out != last {
				t.Fatalf("%s: tried %v, out %+v, last %+v, err %v", doc, tried, out, last, err)
			}
		}
	})
}

func TestWalkOfALeafAllocatesNothing(t *testing.T) {
	cfg := routing.Single(routing.Target{Provider: "openai"})
	e := routing.NewEngine(newClock(), rand.Float64)
	ctx := context.Background()
	try := func(context.Context, *routing.Target) routing.Outcome { return routing.Outcome{Status: 200} }
	if n := testing.AllocsPerRun(1000, func() { _, _ = e.Walk(ctx, cfg, "s", nil, try) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() { routing.Single(routing.Target{Provider: "openai"}) }); n > 1 {
		t.Errorf("Single: %v allocations", n)
	}
}

func BenchmarkWalk(b *testing.B) {
	ctx := context.Background()
	try := func(context.Context, *routing.Target) routing.Outcome { return routing.Outcome{Status: 200} }
	const cb = `"cb_config":{"failure_threshold":5,"cooldown_interval":30000}`
	var r routing.Inputs = request{metadata: map[string]string{"user_id": "ann"}, params: map[string]any{"model": "gpt-4o"}}
	cases := []struct{ name, doc string }{
		{"leaf", `{"provider":"@a"}`},
		{"fallback", branch(`{"mode":"fallback"}`, three)},
		{"fallback with breakers", branch(`{"mode":"fallback",`+cb+`}`, three)},
		{"weighted", branch(`{"mode":"loadbalance"}`, three)},
		{"round robin", branch(`{"mode":"loadbalance","policy":"round_robin"}`, three)},
		{"least busy", branch(`{"mode":"loadbalance","policy":"least_busy"}`, three)},
		{"least latency", branch(`{"mode":"loadbalance","policy":"least_latency"}`, three)},
		{"sticky", branch(`{"mode":"loadbalance","sticky":{"enabled":true,"hash_fields":["metadata.user_id"]}}`, three)},
		{"conditional", branch(`{"mode":"conditional","conditions":[{"query":{"params.model":{"$regex":"^gpt"}},"then":"a"}]}`, two)},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			cfg, e := parse(b, c.doc), routing.NewEngine(newClock(), rand.Float64)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Walk(ctx, cfg, "org/config", r, try); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	doc := []byte(branch(`{"mode":"fallback","on_status_codes":[429]}`, `[{"provider":"openai","api_key":"sk-1","override_params":{"model":"gpt-4o"}},{"provider":"@b","retry":{"attempts":3}}]`))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := routing.Parse(doc, routing.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
