package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/limits/redistest"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// stormLimit is how long a node may take to hear of what became of Redis or of another node:
// it does within seconds, but the machine may be busy with other packages.
const stormLimit = time.Minute

// sharing has a node share its limits in a Redis.
func sharing(s *redistest.Server) option {
	return with("REDIS_URL=redis://" + s.Address)
}

// spender is a key with a budget of one dollar, which all nodes know.
type spender struct {
	id, key string
	nodes   []*gateway
}

// spenders starts nodes on one database and one Redis.
func spenders(t *testing.T, n int, s *redistest.Server, set sqlstore.Settings, up *upstream.Server, limit object) *spender {
	t.Helper()
	p := new(spender)
	for range n {
		p.nodes = append(p.nodes, start(t, withDatabase(set), sharing(s)))
	}
	g := p.nodes[0]
	g.saveProvider("main", up)
	workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	made := g.do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
		"name": "spender", "workspace_id": workspace, "scopes": []string{"completions.write", "logs.view", "logs.list"}, "usage_limits": limit,
	})
	p.id, p.key = made.get("id").String(), made.get("key").String()
	for _, g := range p.nodes {
		eventually(t, logLimit, "the key is in force", func() bool { return g.call("GET", "/v1/logs", "", "x-gateway-api-key: "+p.key).Status == 200 })
		eventually(t, logLimit, "the provider is known", func() bool {
			return g.call("GET", "/v1/providers/main", "", "x-gateway-api-key: "+adminKey).Status == 200
		})
	}
	return p
}

const spending = `{"model":"@main/gpt-4o","service_tier":"default","max_tokens":1000,"messages":[{"role":"user","content":"Hello there"}]}`

var canUse = regexp.MustCompile(`can use up to ([0-9.]+) US dollars`)

// spent waits until the store and the logs of all nodes have the same, in dollars.
func (p *spender) spent(t *testing.T, want float64) {
	t.Helper()
	nine := func(dollars float64) string { return strconv.FormatFloat(dollars, 'f', 9, 64) }
	eventually(t, 30*time.Second, "the store and the logs have "+nine(want), func() bool {
		logged := 0.0
		for _, g := range p.nodes {
			logged += g.spentBy(p.key)
		}
		used := p.nodes[0].do(adminKey, "GET", "/v1/api-keys/"+p.id, nil).get("usage_limits.current_usage").Float()
		return nine(used) == nine(want) && nine(logged/100) == nine(want)
	})
}

// A budget admits exactly the calls that fit when a thousand callers at three nodes call at once.
// Afterwards what was not used is available again, and the store has what the three logs have.
//
// A call reserves its input by bytes, or by tokens once little is left of the budget, so the time at
// which it asks decides between two amounts. The output is so much dearer that equally many calls
// fit by either.
func TestBudgetOverThreeNodes(t *testing.T) {
	t.Parallel()
	const callers, dollars = 1000, 16
	body := strings.Replace(spending, `"max_tokens":1000`, `"max_tokens":16000`, 1)
	up, release := upstream.Start(t), make(chan struct{})
	up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		<-release
		r := upstream.JSON(200, []byte(`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":500,"total_tokens":520}}`))
		return &r
	})
	p := spenders(t, 3, redistest.Start(t), storetest.Postgres(t), up, object{"type": "cost", "credit_limit": dollars})
	var passed, refused atomic.Int64
	var maxCost atomic.Value
	var all sync.WaitGroup
	for i := range callers {
		g := p.nodes[i%len(p.nodes)]
		all.Go(func() {
			switch a := g.try("POST", "/v1/chat/completions", body, "x-gateway-api-key: "+p.key); a.Status {
			case http.StatusOK:
				passed.Add(1)
			case http.StatusPreconditionFailed:
				refused.Add(1)
				if m := canUse.FindStringSubmatch(a.Body); m != nil {
					maxCost.Store(m[1])
				}
			default:
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	under := func() int64 { return int64(len(up.Seen())) }
	eventually(t, time.Minute, "every call is under way or refused", func() bool { return under()+refused.Load() == callers })
	admitted := under()
	close(release)
	all.Wait()
	each, _ := strconv.ParseFloat(fmt.Sprint(maxCost.Load()), 64)
	if maxCalls := int64(dollars / each); each == 0 || admitted != maxCalls {
		t.Errorf("%d calls were under way at once that can cost %v dollars each: %d are to fit", admitted, each, maxCalls)
	}
	if passed.Load() != admitted {
		t.Errorf("%d of %d passed", passed.Load(), admitted)
	}
	p.spent(t, float64(admitted)*(20*2.5e-6+500*10e-6))
	for _, g := range p.nodes { // what was held is there again
		eventually(t, logLimit, "a call passes", func() bool {
			return g.try("POST", "/v1/chat/completions", body, "x-gateway-api-key: "+p.key).Status == http.StatusOK
		})
	}
	for _, g := range p.nodes {
		g.stop()
	}
}

// Three nodes serve a budget while Redis hangs, loses everything and starts anew, and one
// of them is killed with calls under way: calls that cannot be checked are refused with
// 503, what is let through never costs more than the budget, and in the end the store has
// what the logs add up to.
func TestBudgetOverThreeNodesInAStorm(t *testing.T) {
	t.Parallel()
	up, redis := upstream.Start(t), redistest.Start(t)
	var answers atomic.Int64
	up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		answers.Add(1)
		r := upstream.JSON(200, []byte(`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":50,"total_tokens":70}}`))
		r.Wait = 5 * time.Millisecond
		return &r
	})
	const each = 20*2.5e-6 + 50*10e-6 // dollars
	p := spenders(t, 3, redis, storetest.Postgres(t), up, object{"type": "cost", "credit_limit": 1})
	var passed, unchecked atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	var nodes [3]atomic.Pointer[gateway]
	for i, g := range p.nodes {
		nodes[i].Store(g)
	}
	for i := range 12 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				switch a := nodes[i%3].Load().try("POST", "/v1/chat/completions", spending, "x-gateway-api-key: "+p.key); a.Status {
				case http.StatusOK:
					passed.Add(1)
				case http.StatusServiceUnavailable:
					unchecked.Add(1)
				case http.StatusPreconditionFailed, 0: // used up for the moment, or the node is dead
				default:
					t.Errorf("%d %s", a.Status, a.Body)
				}
				time.Sleep(20 * time.Millisecond) // a budget is to outlast the storm
			}
		})
	}
	moved := func(what string) {
		before := passed.Load()
		eventually(t, stormLimit, "calls pass "+what, func() bool { return passed.Load() > before+3 || float64(answers.Load())*each > 0.9 })
	}
	moved("at first")
	redis.Pause()
	eventually(t, stormLimit, "calls are refused without Redis", func() bool { return unchecked.Load() > 0 })
	eventually(t, stormLimit, "health says so", func() bool { return nodes[0].Load().call("GET", "/v1/health", "").get("limits").String() == "refusing" })
	redis.Resume()
	moved("behind a pause")
	redis.Wipe(t)
	moved("behind a loss")
	nodes[2].Load().child.kill()
	moved("with a node dead")
	nodes[2].Store(nodes[2].Load().again())
	p.nodes[2] = nodes[2].Load()
	redis.Kill()
	redis.Run(t)
	moved("behind a new start of Redis")
	close(stop)
	all.Wait()
	if worst := float64(answers.Load()) * each; worst > 1 {
		t.Errorf("the provider served %d calls, worth %.6f dollars", answers.Load(), worst)
	}
	p.balanced(t)
	eventually(t, stormLimit, "health is good again", func() bool { return p.nodes[0].health() == "ok" })
}

// balanced waits until the store has what the logs of all nodes add up to, and no more
// than the budget.
func (p *spender) balanced(t *testing.T) {
	t.Helper()
	var used, logged float64
	eventually(t, stormLimit, "the store has what the logs add up to", func() bool {
		logged = 0
		for _, g := range p.nodes {
			logged += g.spentBy(p.key) / 100
		}
		used = p.nodes[0].do(adminKey, "GET", "/v1/api-keys/"+p.id, nil).get("usage_limits.current_usage").Float()
		return used > 0 && strconv.FormatFloat(used, 'f', 9, 64) == strconv.FormatFloat(logged, 'f', 9, 64)
	})
	if used > 1 {
		t.Errorf("%.9f dollars are used of one", used)
	}
}
