package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/redis"
	"sluice/internal/limits/redistest"
	"sluice/internal/test/upstream"
)

// shared are the limits of a rig that it has in common with other nodes.
type shared struct {
	*redis.Limiter
	registry *prometheus.Registry
}

// share has the rig's limits hold over all nodes of a Redis.
func (r *rig) share(s *redistest.Server) *shared {
	r.t.Helper()
	n := startNode(r.t, s)
	r.gateway.Limiter = n
	r.gateway.Reassemble()
	return n
}

// startNode runs a node until the test ends, and waits until Redis can be asked.
func startNode(t testing.TB, s *redistest.Server) *shared {
	t.Helper()
	metrics := redis.NewMetrics()
	n := &shared{registry: prometheus.NewRegistry()}
	n.registry.MustRegister(metrics.Collectors()...)
	var err error
	n.Limiter, err = redis.New(redis.Options{
		Node: ident.NewID(), Server: redis.Server{Addresses: []string{s.Address}, Timeout: 2 * time.Second}, Local: quota.NewLimiter(), Grace: -1, Metrics: metrics,
		Meters: func(context.Context, quota.CounterID) (quota.Meter, bool, error) { return quota.Meter{}, false, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	n.Reserve(t.Context(), time.Now(), []quota.Hold{{Counter: quota.CounterID{Subject: ident.NewID()}, Org: org, Amount: 1, Limit: 1, Unit: quota.PerMinute}})
	return n
}

// redisWaits is how often calls waited for Redis.
func (n *shared) redisWaits(t testing.TB) (times uint64) {
	t.Helper()
	families, err := n.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "sluice_redis_duration_seconds" && strings.Contains(m.String(), `"take"`) {
				times += m.GetHistogram().GetSampleCount()
			}
		}
	}
	return times
}

// TestOneQuestion: a call whose caller, place and target have budgets and rates near and
// far from their limits asks other nodes once, and what it used is known to all of them.
func TestOneQuestion(t *testing.T) {
	t.Parallel()
	const calls = 20
	s := redistest.Start(t)
	r := newRig(t)
	n, other := r.share(s), startNode(t, s)
	near := []quota.Rate{{Type: quota.Requests, Unit: quota.PerWeek, Value: 60}, {Type: quota.Tokens, Unit: quota.PerWeek, Value: 1 << 30}}
	keyPlan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1000)}, Rates: near})
	r.limited(tenant.WorkspaceKind, workspace, quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 1e9)}, Rates: near})
	r.up.Handle("/v1/chat/completions", upstream.Always(chatOf(20, 48)))
	chat := func() {
		t.Helper()
		if a := r.call("POST", "/v1/chat/completions", capped, r.custom()...); a.StatusCode != 200 {
			t.Fatal(a.StatusCode, a.Text)
		}
	}
	chat() // budgets are read from the store
	before := n.redisWaits(t)
	for range calls {
		chat()
	}
	if waits := n.redisWaits(t) - before; waits != calls {
		t.Errorf("%d calls asked %d times", calls, waits)
	}
	for i, want := range []int64{1 + calls, (1 + calls) * 68} {
		h := keyPlan.Rates[i]
		h.Org, h.Amount = org, 1<<50 // never fits, so nothing is taken
		until(t, "all nodes know what was used", func() bool {
			_, left, _, err := other.Reserve(t.Context(), time.Now(), []quota.Hold{h})
			return err == nil && h.Limit-left == want
		})
	}
}

// TestRefusedCallsAreRequests: calls that end before they come to the limits of a target
// use the rates of their caller, once, and those that a target refuses do.
func TestRefusedCallsAreRequests(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for name, c := range map[string]struct {
		body, config string
		status       int
	}{
		"a broken body":         {`{"model":`, `{"provider":"openai","api_key":"k","custom_host":"%[1]s/v1"}`, 400},
		"an unknown provider":   {capped, `{"provider":"nobody","api_key":"k"}`, 400},
		"a call that is sent":   {capped, `{"provider":"openai","api_key":"k","custom_host":"%[1]s/v1"}`, 200},
		"the second of targets": {capped, `{"strategy":{"mode":"fallback","on_status_codes":[412]},"targets":[{"provider":"openai","api_key":"k","custom_host":"%[1]s/v1","override_params":{"model":"gpt-4o"}},{"provider":"openai","api_key":"k","custom_host":"%[1]s/v1"}]}`, 200},
		"none of two targets":   {capped, `{"strategy":{"mode":"fallback","on_status_codes":[412]},"targets":[{"provider":"openai","api_key":"k","custom_host":"%[1]s/v1","override_params":{"model":"gpt-4o"}},{"provider":"openai","api_key":"k","custom_host":"%[1]s/v1","override_params":{"model":"gpt-4o"}}]}`, 412},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.share(s)
			r.up.Handle("/v1/chat/completions", upstream.Always(chatOf(1, 1)))
			r.limited(keys.Kind, r.keyID(), quota.Limits{
				Budgets: []quota.Budget{budget(quota.Cost, 0.0007)}, Rates: []quota.Rate{{Type: quota.Requests, Unit: quota.PerWeek, Value: 3}, {Type: quota.Tokens, Unit: quota.PerWeek, Value: 1000}},
			})
			config := c.config
			if strings.Contains(config, "%[1]s") {
				config = fmt.Sprintf(config, r.up.URL())
			}
			for i := range 5 {
				want := c.status
				if i >= 3 {
					want = http.StatusTooManyRequests
				}
				if a := r.call("POST", "/v1/chat/completions", c.body, "x-gateway-config: "+config); a.StatusCode != want {
					t.Errorf("call %d: %d %s, want %d", i, a.StatusCode, a.Text, want)
				}
			}
		})
	}
}

// TestCallersRefusalIsFinal: a limit of the caller that others used up, of which this node
// has not heard, refuses in the caller's words, and no other target is tried.
func TestCallersRefusalIsFinal(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := newRig(t)
	r.share(s)
	other := startNode(t, s)
	keyPlan := r.limited(keys.Kind, r.keyID(), quota.Limits{Rates: []quota.Rate{{Type: quota.Tokens, Unit: quota.PerWeek, Value: 100}}})
	h := keyPlan.Rates[0]
	h.Org, h.Amount = org, 100
	if i, _, _, err := other.Reserve(t.Context(), time.Now(), []quota.Hold{h}); i >= 0 || err != nil {
		t.Fatal(i, err)
	}
	config := fmt.Sprintf(`{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"k","custom_host":"%[1]s/v1"},{"provider":"openai","api_key":"k","custom_host":"%[1]s/v1"}]}`, r.up.URL())
	a := r.call("POST", "/v1/chat/completions", capped, "x-gateway-config: "+config)
	if a.StatusCode != 429 || !strings.Contains(a.Text, `"code":"05"`) || !strings.Contains(a.Text, "100 tokens a week") || len(r.up.Seen()) != 0 {
		t.Errorf("%d %s; the provider saw %d", a.StatusCode, a.Text, len(r.up.Seen()))
	}
	if rows := r.journal.all(); len(rows) != 1 || rows[0].Status != 429 {
		t.Errorf("%d records: %+v", len(rows), rows)
	}
}
