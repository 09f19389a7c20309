package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// stalledProvider does not answer before the test ends, and counts the calls that it began to
// work on.
func stalledProvider(t *testing.T) (up *httptest.Server, calls *atomic.Int64) {
	t.Helper()
	calls = new(atomic.Int64)
	end := make(chan struct{})
	up = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a gateway that is killed ends it
		calls.Add(1)
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(up.Close)
	t.Cleanup(func() { close(end) })
	return up, calls
}

// A whole answer that is read on after its caller left or its time was over, by a gateway that is
// killed meanwhile, is closed at its maximum by the next start, once, however often the gateway
// is killed after that.
func TestGivenUpAnswerOverKills(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		up, calls := stalledProvider(t)
		g := start(t, storage)
		g.saveAddress("main", up.URL+"/v1")
		workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
		made := g.do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
			"name": "spender", "workspace_id": workspace, "scopes": []string{"completions.write", "logs.view", "logs.list"},
			"usage_limits": object{"type": "cost", "credit_limit": 1},
		})
		id, key := made.get("id").String(), made.get("key").String()
		used := func() float64 {
			return g.do(adminKey, "GET", "/v1/api-keys/"+id, nil).get("usage_limits.current_usage").Float()
		}
		abandonCalls(t, g, calls, key)
		g.child.kill()
		g = g.again()

		const each = 400 * 0.6e-6 // dollars of the longest answer; the input is on top
		var counted float64
		eventually(t, logLimit, "the log has what the budget counts", func() bool {
			counted = used()
			return counted > 0 && fmt.Sprintf("%.7f", counted) == fmt.Sprintf("%.7f", g.spentBy(key)/100)
		})
		if n := float64(calls.Load()); counted < n*each || counted > n*each*1.2 {
			t.Errorf("%.9f counts for %.0f calls with a maximum of %.9f each", counted, n, each)
		}
		for range 2 {
			g.child.kill()
			g = g.again()
			if again := used(); fmt.Sprintf("%.9f", again) != fmt.Sprintf("%.9f", counted) {
				t.Errorf("after a further kill %.9f counts, before it %.9f", again, counted)
			}
		}
		if n := strings.Count(g.call("GET", "/v1/logs", "", "x-gateway-api-key: "+key).want(t, 200).Body, `"interrupted"`); n != int(calls.Load()) {
			t.Errorf("%d calls are in the log as interrupted, want %d", n, calls.Load())
		}
		g.stop()
	})
}

// abandonCalls makes calls that are given up: one by its time, one by its time at two targets, and one
// by its caller. It returns when all are read on.
func abandonCalls(t *testing.T, g *gateway, calls *atomic.Int64, key string) {
	t.Helper()
	const body = `{"model":"gpt-4o-mini","service_tier":"default","max_tokens":400,"messages":[{"role":"user","content":"Hello there"}]}`
	as := "x-gateway-api-key: " + key
	g.call("POST", "/v1/chat/completions", body, as, "x-gateway-provider: @main", "x-gateway-request-timeout: 100").want(t, 408)
	const fallback = `{"request_timeout":100,"strategy":{"mode":"fallback","on_status_codes":[408]},"targets":[{"provider":"@main"},{"provider":"@main"}]}`
	g.call("POST", "/v1/chat/completions", body, as, "x-gateway-config: "+fallback).want(t, 408)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		if resp, err := g.send(ctx, "POST", "/v1/chat/completions", body, as, "x-gateway-provider: @main"); err == nil {
			_ = resp.Body.Close()
		}
	}()
	eventually(t, logLimit, "four calls reach the provider", func() bool { return calls.Load() == 4 })
	cancel()
	<-left
	eventually(t, logLimit, "four answers are read on", func() bool {
		return strings.Contains(g.call("GET", "/metrics", "").Body, "\nsluice_abandoned_answers 4\n")
	})
}
