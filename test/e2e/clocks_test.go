package e2e

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/app"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/redistest"
	"sluice/internal/ops/config"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// turned is the machine's clock with somebody turning it.
type turned struct{ by atomic.Int64 }

// Now is the time that it shows.
func (c *turned) Now() time.Time { return time.Now().UTC().Add(time.Duration(c.by.Load())) }

// startTurned starts a gateway in this process, which has a clock of its own.
func startTurned(t testing.TB, opts ...option) (*gateway, *turned) {
	t.Helper()
	l, clock := newLaunch(t, opts...), new(turned)
	s, err := config.Load(config.Sources{Environ: l.env, Flags: map[string]string{"listen": "127.0.0.1:0", "data-dir": l.dir}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), s.Settings, app.Options{Version: version, Log: slog.New(slog.DiscardHandler), HasGOGC: true, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	g := &gateway{t: t, dir: l.dir, key: workspaceKey, plan: l, base: "http://" + a.Addr(), http: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	t.Cleanup(func() {
		g.http.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, clock
}

// turns are by how much the clocks of three nodes are wrong, one round behind another:
// hours, and over the ends of weeks and months in both directions.
var turns = [][3]time.Duration{
	{},
	{5 * time.Hour, -3 * time.Hour, 0},
	{0, 8 * 24 * time.Hour, -8 * 24 * time.Hour},
	{40 * 24 * time.Hour, 0, -2 * time.Hour},
	{-40 * 24 * time.Hour, 3 * time.Hour, 40 * 24 * time.Hour},
	{},
}

// Limits that nodes share hold over nodes whose clocks jump: a budget lets through what fits
// into it and a rate as much as a week of Redis's clock has, to the call, and what is stored
// in the end is what the calls cost that passed.
func TestClocksOfNodesJump(t *testing.T) {
	t.Parallel()
	const (
		cost  = 20*2_500 + 900*10_000 // of a call, in nano-dollars
		fit   = 1_000_000_000 / cost  // into a dollar
		paced = 100                   // requests a week
		each  = 9                     // calls of a key at a node in a round
	)
	up := upstream.Start(t)
	up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, json.RawMessage(
		`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":900,"total_tokens":920}}`))))
	set, server := storetest.Postgres(t), redistest.Start(t)
	var nodes [3]*gateway
	var clocks [3]*turned
	for i := range nodes {
		nodes[i], clocks[i] = startTurned(t, withDatabase(set), sharing(server))
	}
	nodes[0].saveProvider("main", up)
	workspaceID := nodes[0].do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	budget := &limitedKey{limits: object{"usage_limits": object{"type": "cost", "credit_limit": 1}}}
	rate := &limitedKey{limits: object{"rate_limits": []object{{"type": "requests", "unit": "rpw", "value": paced}}}}
	budget.make(t, nodes[:], "budget", workspaceID)
	rate.make(t, nodes[:], "rate", workspaceID)
	week := quota.PerWeek.Begin(time.Now())
	for _, by := range turns {
		for i, c := range clocks {
			c.by.Store(int64(by[i]))
		}
		var all sync.WaitGroup
		for _, k := range []*limitedKey{budget, rate} {
			for _, g := range nodes {
				all.Go(func() {
					for range each {
						k.call(t, g)
					}
				})
			}
		}
		all.Wait()
	}
	passed := budget.passed.Load()
	if passed != fit {
		t.Errorf("%d calls passed a budget into which %d fit", passed, fit)
	}
	if got := rate.passed.Load(); got != paced && quota.PerWeek.Begin(time.Now()).Equal(week) {
		t.Errorf("%d requests passed a rate of %d a week", got, paced)
	}
	want := strconv.FormatFloat(float64(passed*cost)/1e9, 'f', 9, 64)
	eventually(t, logLimit, "the store has "+want, func() bool {
		used := nodes[0].do(adminKey, "GET", "/v1/api-keys/"+budget.id, nil).get("usage_limits.current_usage").Float()
		return strconv.FormatFloat(used, 'f', 9, 64) == want
	})
}

// limitedKey is a key with limits, and what became of its calls.
type limitedKey struct {
	limits  object
	id, raw string
	passed  atomic.Int64
}

// make makes the key and waits until all nodes know it.
func (k *limitedKey) make(t *testing.T, nodes []*gateway, name, workspaceID string) {
	t.Helper()
	body := object{"name": name, "workspace_id": workspaceID, "scopes": []string{"completions.write", "logs.view", "logs.list"}}
	for field, limit := range k.limits {
		body[field] = limit
	}
	made := nodes[0].do(adminKey, "POST", "/v1/api-keys/workspace/service", body)
	k.id, k.raw = made.get("id").String(), made.get("key").String()
	for _, g := range nodes {
		eventually(t, logLimit, "the key is in force", func() bool { return g.call("GET", "/v1/logs", "", "x-gateway-api-key: "+k.raw).Status == 200 })
		eventually(t, logLimit, "the provider is known", func() bool {
			return g.call("GET", "/v1/providers/main", "", "x-gateway-api-key: "+adminKey).Status == 200
		})
	}
}

// call makes one call, which passes or is refused by a limit.
func (k *limitedKey) call(t *testing.T, g *gateway) {
	switch a := g.try("POST", "/v1/chat/completions", spending, "x-gateway-api-key: "+k.raw); a.Status {
	case http.StatusOK:
		k.passed.Add(1)
	case http.StatusPreconditionFailed, http.StatusTooManyRequests:
	default:
		t.Errorf("%d %s %v", a.Status, a.Body, a.Err)
	}
}

// A clock that is set forward and back, by minutes and by days, while calls are under way
// loses and doubles none: each is answered, in the log once, and counts once. What ends by
// the clock ends by the one that the machine has at that time.
func TestClockJumpsUnderLoad(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, json.RawMessage(
		`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":900,"total_tokens":920}}`))))
	g, clock := startTurned(t)
	g.saveProvider("main", up)
	workspaceID := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	k := &limitedKey{limits: object{"usage_limits": object{"type": "cost", "credit_limit": 100_000}}}
	k.make(t, []*gateway{g}, "jumping", workspaceID)
	short := &limitedKey{limits: object{"expires_at": time.Now().UTC().Add(time.Hour).Format(time.RFC3339)}}
	short.make(t, []*gateway{g}, "short", workspaceID)
	for _, by := range []time.Duration{0, 5 * time.Minute, -10 * time.Minute, 3 * time.Hour, -26 * time.Hour, 30 * time.Hour, 0} {
		clock.by.Store(int64(by))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 25 {
					k.call(t, g)
				}
			})
		}
		all.Wait()
		a := g.try("POST", "/v1/chat/completions", spending, "x-gateway-api-key: "+short.raw)
		if want := map[bool]int{true: 401, false: 200}[by >= time.Hour]; a.Status != want {
			t.Errorf("a key for an hour, the clock %s ahead: %d %s", by, a.Status, a.Body)
		}
	}
	if got := k.passed.Load(); got != 700 {
		t.Errorf("%d of 700 calls passed", got)
	}
	const cost = 20*2_500 + 900*10_000
	want := strconv.FormatFloat(700*cost/1e9, 'f', 9, 64)
	eventually(t, logLimit, "what was used is "+want, func() bool {
		used := g.do(adminKey, "GET", "/v1/api-keys/"+k.id, nil).get("usage_limits.current_usage").Float()
		return strconv.FormatFloat(used, 'f', 9, 64) == want
	})
	eventually(t, logLimit, "each call is in the log", func() bool {
		a := g.do(g.key, "GET", "/v1/logs?page_size=1&api_key_ids="+k.id+"&time_of_generation_min="+time.Now().UTC().Add(-48*time.Hour).Format(time.RFC3339)+"&time_of_generation_max="+time.Now().UTC().Add(48*time.Hour).Format(time.RFC3339), nil)
		t.Logf("%d", a.get("total").Int())
		return a.get("total").Int() == 700
	})
}
