package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/test/upstream"
)

// A budget holds against many callers at once and over kill -9, and what it says was used
// is what the request log adds up to, on every database.
func TestBudgetOverAKill(t *testing.T) {
	t.Parallel()
	onEachEngine(t, budgetOverAKill)
}

func budgetOverAKill(t *testing.T, storage option) {
	up := upstream.Start(t)
	var answers atomic.Int64
	var first atomic.Pointer[gateway]
	up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		if answers.Add(1) == 20 {
			first.Load().child.kill()
		}
		r := upstream.JSON(200, json.RawMessage(`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":900,"total_tokens":920}}`))
		r.Wait = 2 * time.Millisecond
		return &r
	})
	g := start(t, storage)
	first.Store(g)
	g.saveProvider("main", up)
	workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	made := g.do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
		"name": "spender", "workspace_id": workspace, "scopes": []string{"completions.write", "logs.view", "logs.list"},
		"usage_limits": object{"type": "cost", "credit_limit": 1},
	})
	id, key := made.get("id").String(), made.get("key").String()
	body := `{"model":"@main/gpt-4o","max_tokens":1000,"messages":[{"role":"user","content":"Hello there"}]}`
	const each = 20*2_500 + 900*10_000 // nano-dollars
	spend := func(g *gateway, calls int) (passed, refused int64) {
		var ok, no atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range calls / 16 {
					switch a := g.try("POST", "/v1/chat/completions", body, "x-gateway-api-key: "+key); a.Status {
					case 200:
						ok.Add(1)
					case 412:
						no.Add(1)
					}
				}
			})
		}
		wg.Wait()
		return ok.Load(), no.Load()
	}
	eventually(t, logLimit, "the key is in force", func() bool {
		return g.call("POST", "/v1/chat/completions", body, "x-gateway-api-key: "+key).Status == 200
	})

	before, _ := spend(g, 64) // ends in the kill
	before++
	g.child.ended(t) // its calls end before it lets go of its data
	g = g.again()
	after, refused := spend(g, 320)
	if refused == 0 {
		t.Errorf("%d and %d passed of a budget for %d, none was refused", before, after, 1_000_000_000/each)
	}
	if worst := answers.Load() * each; worst > 1_000_000_000 {
		t.Errorf("the provider served %d calls, worth %d nano-dollars, on a budget of a dollar", answers.Load(), worst)
	}

	var used, logged float64
	eventually(t, logLimit, "the meter has what the log adds up to", func() bool {
		used = g.do(adminKey, "GET", "/v1/api-keys/"+id, nil).get("usage_limits.current_usage").Float()
		logged = g.spentBy(key)
		return fmt.Sprintf("%.9f", used) == fmt.Sprintf("%.9f", logged/100)
	})
	if used > 1 || used < float64(before+after)*each/1e9-1e-9 {
		t.Errorf("%.9f used, %d calls answered", used, before+after)
	}
	g.stop()
}

// spentBy adds up the costs, in cents, that the log has of the calls of a key; what was
// cut off by a kill counts with its bound.
func (g *gateway) spentBy(key string) (cents float64) {
	g.t.Helper()
	after := ""
	for {
		a := g.call("GET", "/v1/logs?page_size=100"+after, "", "x-gateway-api-key: "+key).want(g.t, 200)
		for _, row := range a.get("data").Array() {
			if c := row.Get("cost"); c.Exists() {
				cents += c.Float()
			}
		}
		next := a.get("next_cursor").String()
		if next == "" {
			return cents
		}
		after = "&after=" + strings.ReplaceAll(next, "+", "%2B")
	}
}
