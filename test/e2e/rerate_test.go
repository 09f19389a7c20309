package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sluice/internal/test/upstream"
)

// A price that was wrong by a factor of a thousand is corrected: what was recorded is
// billed again, all budgets follow, and whatever instant the gateway is killed at, budgets
// are what the log adds up to.
func TestPriceIsCorrected(t *testing.T) {
	t.Parallel()
	onEachEngine(t, priceIsCorrected)
}

// dearCalls is a gateway with a key whose calls were billed at a price that was wrong.
type dearCalls struct {
	*gateway
	t           *testing.T
	id, key     string // of the spender
	policy      string
	from, until time.Time
}

const (
	dearCall   = 9.05 // dollars, at the wrong price
	cheapCall  = 0.00905
	spentCalls = 48
)

func priceIsCorrected(t *testing.T, storage option) {
	up := upstream.Start(t)
	up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		r := upstream.JSON(200, json.RawMessage(`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":900,"total_tokens":920}}`))
		return &r
	})
	d := &dearCalls{gateway: start(t, storage), t: t, from: time.Now().Add(-time.Minute), until: time.Now().Add(time.Hour)}
	d.prepare(up)
	d.agree("at the wrong price", spentCalls*dearCall)
	if status := d.spend(); status != 412 {
		t.Errorf("a call at the wrong price is answered with %d, want that the budget is used up", status)
	}

	d.do(d.gateway.key, "PUT", "/v1/integrations/main", object{"pricing_adjustments": nil})
	plan := d.reRate(true)
	if n := plan.get("changed").Int(); n != spentCalls || math.Abs(plan.get("difference").Float()+spentCalls*(dearCall-cheapCall)) > 1e-9 {
		t.Errorf("a dry run says %s", plan.Body)
	}
	d.agree("behind a dry run", spentCalls*dearCall)
	for n := range 3 {
		d.killed(time.Duration(n) * 80 * time.Millisecond)
		d.gateway = d.again()
		d.agree(fmt.Sprintf("behind kill %d", n), -1)
	}
	done := d.reRate(false)
	d.agree("at the price of now", spentCalls*cheapCall)
	if again := d.reRate(false); again.get("changed").Int() != 0 || again.get("difference").Float() != 0 || again.get("attempts").Int() != spentCalls {
		t.Errorf("again: %s", again.Body)
	}
	log := d.call("GET", "/v1/logs?page_size=1&order_by_type=asc", "", "x-gateway-api-key: "+d.key).get("data.0.id").String()
	trail := d.do(d.key, "GET", "/v1/logs/"+log, nil).get("cost_corrections")
	if n := len(trail.Array()); n != 1 || trail.Get("0.cost_before").Float() != dearCall || trail.Get("0.cost_after").Float() != cheapCall {
		t.Errorf("the log keeps %s", trail.Raw)
	}
	if status := d.spend(); status != 200 {
		t.Errorf("a call at the price of now is answered with %d; the budget has been corrected by %s", status, done.get("difference"))
	}
	d.stop()
}

// prepare makes calls at a thousandfold price until the budget of their key has no room.
func (d *dearCalls) prepare(up *upstream.Server) {
	d.t.Helper()
	d.saveProvider("main", up)
	d.do(d.gateway.key, "PUT", "/v1/integrations/main", object{"pricing_adjustments": object{"multiplier": object{"default": 1000}}})
	workspace := d.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	made := d.do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
		"name": "spender", "workspace_id": workspace, "scopes": []string{"completions.write", "logs.view", "logs.list"},
		"usage_limits": object{"type": "cost", "credit_limit": spentCalls*dearCall + 1},
	})
	d.id, d.key = made.get("id").String(), made.get("key").String()
	d.policy = d.do(d.gateway.key, "POST", "/v1/policies/usage-limits", object{
		"conditions": []object{{"key": "api_key", "value": d.id}}, "group_by": []object{{"key": "api_key"}}, "type": "cost", "credit_limit": 100_000,
	}).get("id").String()
	calls := 0
	eventually(d.t, logLimit, "the key is in force", func() bool {
		ok := d.spend() == 200
		if ok {
			calls++
		}
		return ok
	})
	for ; calls < spentCalls; calls++ {
		if status := d.spend(); status != 200 {
			d.t.Fatalf("call %d of %d is answered with %d", calls, spentCalls, status)
		}
	}
}

// spend makes a call and returns its status.
func (d *dearCalls) spend() int {
	return d.call("POST", "/v1/chat/completions", `{"model":"@main/gpt-4o","service_tier":"default","max_tokens":900,"messages":[{"role":"user","content":"Hi"}]}`, "x-gateway-api-key: "+d.key).Status
}

func (d *dearCalls) order(dry bool) string {
	return jsonText(object{"time_of_generation_min": d.from.UTC(), "time_of_generation_max": d.until.UTC(), "dry_run": dry})
}

func (d *dearCalls) reRate(dry bool) callResult {
	d.t.Helper()
	return d.call("POST", "/v1/model-configs/pricing/re-rate", d.order(dry), "x-gateway-api-key: "+adminKey).want(d.t, 200)
}

// killed re-rates and kills the gateway meanwhile, so long after it began.
func (d *dearCalls) killed(after time.Duration) {
	var wg sync.WaitGroup
	wg.Go(func() {
		d.try("POST", "/v1/model-configs/pricing/re-rate", d.order(false), "x-gateway-api-key: "+adminKey)
	})
	time.Sleep(300*time.Millisecond + after) // the log takes its time before the first correction
	d.child.kill()
	wg.Wait()
}

// agree waits until the budgets of the key and of the policy have what the log adds up to,
// which is so many dollars, or whatever it is when that is below 0.
func (d *dearCalls) agree(when string, dollars float64) {
	d.t.Helper()
	var logged, key, policy float64
	eventually(d.t, 30*time.Second, when+": budgets have what the log adds up to", func() bool {
		logged = d.spentBy(d.key) / 100
		key = d.do(adminKey, "GET", "/v1/api-keys/"+d.id, nil).get("usage_limits.current_usage").Float()
		policy = d.do(d.gateway.key, "GET", "/v1/policies/usage-limits/"+d.policy+"?include_usage=true", nil).get("value_key_usage_map.api_key:" + d.id + ".current_usage").Float()
		return math.Abs(logged-key) < 1e-9 && math.Abs(logged-policy) < 1e-9 && (dollars < 0 || math.Abs(logged-dollars) < 1e-9)
	})
}

// What was counted of a rate before a kill is not forgotten, but for the last second.
func TestRatesOverAKill(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	g.saveProvider("main", up)
	workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	key := g.do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
		"name": "caller", "workspace_id": workspace, "scopes": []string{"completions.write"}, "rate_limits": []object{{"type": "requests", "unit": "rpw", "value": 10}},
	}).get("key").String()
	call := func() callResult {
		return g.call("POST", "/v1/chat/completions", `{"model":"@main/gpt-4o","messages":[{"role":"user","content":"Hi"}]}`, "x-gateway-api-key: "+key)
	}
	eventually(t, logLimit, "the key is in force", func() bool { return call().Status == 200 })
	for range 6 {
		call().want(t, 200)
	}
	left := func() string { return call().Header.Get("x-gateway-ratelimit-remaining") }
	if n := left(); n != "2" {
		t.Fatalf("%q calls are left, want 2", n)
	}
	eventually(t, 30*time.Second, "what was counted is kept: for a second nothing was written", func() bool {
		info, err := os.Stat(filepath.Join(g.dir, "rates"))
		return err == nil && time.Since(info.ModTime()) > time.Second
	})
	g.child.kill()
	g = g.again()
	if n := left(); n != "1" {
		t.Errorf("%q calls are left behind a kill, want 1", n)
	}
	g.stop()
	g = g.again()
	if n := left(); n != "0" {
		t.Errorf("%q calls are left behind a stop, want 0", n)
	}
	call().want(t, 429)
	g.stop()
}

// The first call behind a start, and that of a provider that is saved while the gateway runs,
// is held for and billed at the prices of the operator, of which a price list that was read
// when a call came would know nothing yet.
func TestFirstCallHasItsPrice(t *testing.T) {
	t.Parallel()
	prices := t.TempDir()
	list := `{"default":{"pricing_config":{"currency":"USD"}},"of-the-house":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.001},"response_token":{"price":0.002}}}}}`
	if err := os.WriteFile(filepath.Join(prices, "openai.json"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	up := upstream.Start(t)
	up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, json.RawMessage(`{"id":"c","object":"chat.completion","model":"of-the-house","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":10,"total_tokens":30}}`))))
	g := start(t, with("MODEL_CONFIGS_PRICING_LOCAL_PATH="+prices))
	billed := func(when string) {
		t.Helper()
		a := g.call("POST", "/v1/chat/completions", `{"model":"@main/of-the-house","max_tokens":10,"messages":[{"role":"user","content":"Hi"}]}`, "x-gateway-api-key: "+g.key).want(t, 200)
		g.awaitLog(a.Header.Get("x-gateway-request-id"))
		log := g.do(g.key, "GET", "/v1/logs?page_size=1", nil).get("data.0")
		if cost := log.Get("cost").Float(); cost != 0.04 || log.Get("cost_bound").Float() < cost {
			t.Errorf("%s the call cost %v cents, %v were held, and %q; want 0.04", when, cost, log.Get("cost_bound"), log.Get("cost_unpriced"))
		}
	}
	g.saveProvider("main", up)
	billed("behind the save")
	g.stop()
	g = g.again()
	billed("behind the start")
}
