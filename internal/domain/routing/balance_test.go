package routing_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/routing"
)

// note is a try that is always good and keeps the providers in order.
func note(tried *[]string) routing.Try {
	return func(_ context.Context, t *routing.Target) routing.Outcome {
		*tried = append(*tried, t.Provider)
		return routing.Outcome{Status: 200}
	}
}

func TestWeightedDraw(t *testing.T) {
	t.Parallel()
	doc := branch(`{"mode":"loadbalance"}`, `[{"provider":"@a","weight":0.7},{"provider":"@zero","weight":0},{"provider":"@b","weight":0.3},{"provider":"@c"}]`)
	cases := []struct {
		draw float64
		want string
	}{{0, "@a"}, {0.34, "@a"}, {0.36, "@b"}, {0.49, "@b"}, {0.51, "@c"}, {math.Nextafter(1, 0), "@c"}}
	for _, c := range cases {
		tried, out, err := upstreams{c.want: {Status: 500}}.run(t, routing.NewEngine(newClock(), draws(c.draw)), parse(t, doc), nil)
		if err != nil || fmt.Sprint(tried) != "["+c.want+"]" || out.Status != 500 {
			t.Errorf("%v: tried %v, %+v, %v", c.draw, tried, out, err)
		}
	}
}

func TestBalanceUsesOpenTargetsWhenTheyHaveAllTheWeight(t *testing.T) {
	t.Parallel()
	cfg := parse(t, branch(`{"mode":"loadbalance","cb_config":{"failure_threshold":1,"cooldown_interval":30000}}`, `[{"provider":"@a"},{"provider":"@zero","weight":0}]`))
	e := routing.NewEngine(newClock(), draws())
	for range 4 {
		if tried, _, _ := (upstreams{"@a": {Status: 503}}).run(t, e, cfg, nil); tried[0] != "@a" {
			t.Errorf("tried %v", tried)
		}
	}
}

// Of draws that lie evenly between 0 and 1 each target has the share of its weight.
func TestWeightsAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(0, 10), 1, 6).Draw(t, "weights")
		total := 0
		var targets []string
		for i, w := range weights {
			total += w
			targets = append(targets, fmt.Sprintf(`{"provider":"@%d","weight":%d}`, i, w))
		}
		cfg, err := routing.Parse([]byte(branch(`{"mode":"loadbalance"}`, "["+strings.Join(targets, ",")+"]")), routing.Limits{})
		if total == 0 {
			if err == nil {
				t.Fatal("all weights zero were accepted")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		const n = 2000
		drawn := 0
		e := routing.NewEngine(newClock(), func() float64 { drawn++; return (float64(drawn) - 0.5) / n })
		seen := map[string]int{}
		for range n {
			var tried []string
			if _, err := e.Walk(context.Background(), cfg, "s", nil, note(&tried)); err != nil || len(tried) != 1 {
				t.Fatalf("tried %v, err %v", tried, err)
			}
			seen[tried[0]]++
		}
		for i, w := range weights {
			share := n * float64(w) / float64(total)
			if got := float64(seen[fmt.Sprintf("@%d", i)]); math.Abs(got-share) > 1 {
				t.Errorf("weight %d of %d: %v of %d", w, total, got, n)
			}
		}
	})
}

func TestRoundRobin(t *testing.T) {
	t.Parallel()
	cfg := parse(t, branch(`{"mode":"loadbalance","policy":"round_robin","cb_config":{"failure_threshold":1,"cooldown_interval":30000}}`,
		`[{"provider":"@a","weight":5},{"provider":"@b"},{"provider":"@zero","weight":0},{"provider":"@c"}]`))
	e := routing.NewEngine(newClock(), draws())
	var tried []string
	for range 8 {
		got, _, _ := upstreams{}.run(t, e, cfg, nil)
		tried = append(tried, got...)
	}
	if want := []string{"@a", "@b", "@c", "@a", "@b", "@c", "@a", "@b"}; !slices.Equal(tried, want) {
		t.Errorf("tried %v", tried)
	}
	for range 8 {
		upstreams{"@b": {Status: 503}}.run(t, e, cfg, nil) // opens @b
	}
	tried = nil
	for range 4 {
		got, _, _ := upstreams{}.run(t, e, cfg, nil)
		tried = append(tried, got...)
	}
	slices.Sort(tried)
	if !slices.Equal(tried, []string{"@a", "@a", "@c", "@c"}) { // nobody takes the turns of @b on top of their own
		t.Errorf("with @b open: %v", tried)
	}
}

func TestLeastLatency(t *testing.T) {
	t.Parallel()
	clk := newClock()
	e := routing.NewEngine(clk, draws())
	cfg := parse(t, branch(`{"mode":"loadbalance","policy":"least_latency"}`, three))
	up := upstreams{
		"@a": {Status: 200, Latency: 300 * time.Millisecond},
		"@b": {Status: 200, Latency: 100 * time.Millisecond},
		"@c": {Status: 500, Latency: time.Millisecond}, // quick because it is down
	}
	next := func(want string) {
		t.Helper()
		if tried, _, _ := up.run(t, e, cfg, nil); tried[0] != want {
			t.Fatalf("tried %v, want %s", tried, want)
		}
	}
	for _, want := range []string{"@a", "@b", "@c", "@b", "@b"} { // each is measured once
		next(want)
	}
	up["@b"] = routing.Outcome{Status: 200, Latency: 2 * time.Second}
	next("@b")
	next("@a")
	clk.advance(61 * time.Second) // all figures are void: asked again in order
	up["@c"] = routing.Outcome{Status: 200, Latency: time.Millisecond}
	for _, want := range []string{"@a", "@b", "@c", "@c"} {
		next(want)
	}
}

// An answer that cannot be used counts as a failure, however quickly it came; a target that
// says it does not serve the call tells nothing.
func TestLeastLatencyLeavesTargetsThatTalkNonsense(t *testing.T) {
	t.Parallel()
	e := routing.NewEngine(newClock(), draws())
	cfg := parse(t, branch(`{"mode":"loadbalance","policy":"least_latency"}`, `[{"provider":"@a"},{"provider":"@b"}]`))
	up := upstreams{"@a": {Status: 200, Latency: time.Millisecond}, "@b": {Status: 200, Latency: time.Second}}
	next := func(want string) {
		t.Helper()
		if tried, _, _ := up.run(t, e, cfg, nil); tried[0] != want {
			t.Fatalf("tried %v, want %s", tried, want)
		}
	}
	next("@a")
	next("@b")
	up["@a"] = routing.Outcome{Status: 501, Skipped: true, Latency: time.Millisecond}
	next("@a")
	up["@a"] = routing.Outcome{Status: 502, Skipped: true, Garbled: true, Latency: time.Millisecond}
	next("@a")
	next("@b")
}

func TestLeastLatencyAsksOnce(t *testing.T) {
	t.Parallel()
	e := routing.NewEngine(newClock(), draws())
	cfg := parse(t, branch(`{"mode":"loadbalance","policy":"least_latency"}`, three))
	var tried []string
	var walk func(ctx context.Context, t *routing.Target) routing.Outcome
	walk = func(ctx context.Context, target *routing.Target) routing.Outcome {
		tried = append(tried, target.Provider)
		if len(tried) < 3 { // a further call arrives while the first waits for its answer
			if _, err := e.Walk(ctx, cfg, "s", nil, walk); err != nil {
				t.Error(err)
			}
		}
		return routing.Outcome{Status: 200, Latency: time.Second}
	}
	if _, err := e.Walk(t.Context(), cfg, "s", nil, walk); err != nil || !slices.Equal(tried, []string{"@a", "@b", "@c"}) {
		t.Errorf("tried %v, err %v", tried, err)
	}
}

func TestLeastBusy(t *testing.T) {
	t.Parallel()
	e := routing.NewEngine(newClock(), draws())
	cfg := parse(t, branch(`{"mode":"loadbalance","policy":"least_busy"}`, `[{"provider":"@a"},{"provider":"@b"},{"provider":"@zero","weight":0},{"provider":"@c"}]`))
	var tried []string
	var walk routing.Try
	walk = func(ctx context.Context, target *routing.Target) routing.Outcome {
		tried = append(tried, target.Provider)
		if len(tried) < 6 {
			_, _ = e.Walk(ctx, cfg, "s", nil, walk)
		}
		return routing.Outcome{Status: 200}
	}
	_, _ = e.Walk(t.Context(), cfg, "s", nil, walk)
	if want := []string{"@a", "@b", "@c", "@a", "@b", "@c"}; !slices.Equal(tried, want) {
		t.Errorf("tried %v", tried)
	}
	tried = tried[:5] // all six are back: the first is free again
	if _, _ = e.Walk(t.Context(), cfg, "s", nil, note(&tried)); tried[5] != "@a" {
		t.Errorf("afterwards %v", tried)
	}
}

func TestLeastBusyCountsDownAfterAPanic(t *testing.T) {
	t.Parallel()
	e := routing.NewEngine(newClock(), draws())
	cfg := parse(t, branch(`{"mode":"loadbalance","policy":"least_busy"}`, three))
	func() {
		defer func() { _ = recover() }()
		_, _ = e.Walk(t.Context(), cfg, "s", nil, func(context.Context, *routing.Target) routing.Outcome { panic("broken") })
	}()
	var tried []string
	if _, _ = e.Walk(t.Context(), cfg, "s", nil, note(&tried)); tried[0] != "@a" {
		t.Errorf("tried %v", tried)
	}
}

func TestSticky(t *testing.T) {
	t.Parallel()
	clk := newClock()
	// the draws alternate between the two targets, whoever asks
	e := routing.NewEngine(clk, draws(0, 0.9, 0, 0.9, 0, 0.9))
	cfg := parse(t, branch(`{"mode":"loadbalance","sticky":{"enabled":true,"hash_fields":["metadata.user_id","params.n","params.beta","url.pathname"],"ttl":600},"cb_config":{"failure_threshold":1,"cooldown_interval":30000}}`,
		`[{"provider":"@a"},{"provider":"@b"}]`))
	user := func(id string) request {
		return request{metadata: map[string]string{"user_id": id}, params: map[string]any{"n": 1.0, "beta": true}, path: "/v1/x"}
	}
	next := func(up upstreams, r routing.Inputs, want string) {
		t.Helper()
		if tried, _, _ := up.run(t, e, cfg, r); tried[0] != want {
			t.Fatalf("tried %v, want %s", tried, want)
		}
	}
	for range 3 {
		next(nil, user("ann"), "@a")
		next(nil, user("bob"), "@b")
	}
	down := upstreams{"@a": {Status: 503}}
	next(down, user("ann"), "@a")
	next(down, user("ann"), "@a")
	next(nil, user("ann"), "@b") // @a is open: drawn anew from what is left
	clk.advance(599 * time.Second)
	next(nil, user("ann"), "@b")
	next(nil, user("bob"), "@b")
	clk.advance(2 * time.Second)
	next(nil, user("bob"), "@b") // by the draw: 0.9
	next(nil, user("ann"), "@a") // expired too, by the draw: 0
}

func TestStickyNeedsItsFields(t *testing.T) {
	t.Parallel()
	e := routing.NewEngine(newClock(), draws(0, 0.9, 0, 0.9))
	cfg := parse(t, branch(`{"mode":"loadbalance","sticky":{"enabled":true,"hash_fields":["metadata.user_id","params.tags"]}}`, two))
	r := request{metadata: map[string]string{"user_id": "ann"}, params: map[string]any{"tags": []any{"x"}}}
	for i, want := range []string{"@a", "@b", "@a", "@b"} { // a list is no value to hash
		if tried, _, _ := (upstreams{}).run(t, e, cfg, r); tried[0] != want {
			t.Errorf("walk %d: %v", i, tried)
		}
		r.params = nil // nor is none
	}
	if off := parse(t, branch(`{"mode":"loadbalance","sticky":{"hash_fields":["metadata.a"]}}`, two)); off.Root.Strategy.Sticky != nil {
		t.Error("sticky is on without enabled")
	}
	if s := cfg.Root.Strategy.Sticky; s.TTL != time.Hour || len(s.HashFields) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestWalksRunConcurrently(t *testing.T) {
	t.Parallel()
	e := routing.NewEngine(newClock(), rand.Float64)
	var wg sync.WaitGroup
	for _, policy := range []string{"weighted", "round_robin", "least_latency", "least_busy"} {
		cfg := parse(t, branch(`{"mode":"loadbalance","policy":"`+policy+`","sticky":{"enabled":true,"hash_fields":["metadata.u"]},"cb_config":{"failure_threshold":5,"cooldown_interval":30000}}`, three))
		for i := range 4 {
			r := request{metadata: map[string]string{"u": fmt.Sprint(i)}}
			wg.Go(func() {
				for n := range 200 {
					out, err := e.Walk(context.Background(), cfg, policy, r, func(context.Context, *routing.Target) routing.Outcome {
						return routing.Outcome{Status: 200 + n%2*303, Latency: time.Millisecond}
					})
					if err != nil || out.Status == 0 {
						t.Error(out, err)
					}
				}
			})
		}
	}
	wg.Wait()
	total := 0
	for _, s := range e.Breakers("") {
		total += s.Failures + s.Successes
	}
	if total == 0 {
		t.Error("nothing was counted")
	}
}
