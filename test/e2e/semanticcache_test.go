package e2e

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/test/upstream"
)

const (
	semanticConfig = `{"cache":{"mode":"semantic"}}`
	storedQuestion = "How do I reset my password?"
	rephrased      = "How can I reset my password?"
)

// questioner makes chat calls under a config of the cache, each in a namespace.
type questioner struct {
	t      *testing.T
	g      *gateway
	up     *upstream.Server
	config string
}

// ask makes a call with members of its body besides the question, such as `"temperature":1,`.
func (q *questioner) ask(namespace, members, question string) callResult {
	q.t.Helper()
	body := fmt.Sprintf(`{%s"model":"gpt-4o-mini","messages":[{"role":"user","content":%q}]}`, members, question)
	return q.send(namespace, body)
}

func (q *questioner) send(namespace, body string) callResult {
	q.t.Helper()
	return q.g.call("POST", "/v1/chat/completions", body, append(custom(q.up), "x-gateway-cache-namespace: "+namespace, "x-gateway-config: "+q.config)...).want(q.t, 200)
}

// seed returns a namespace in which the semantic mode finds the stored question. The question is stored
// after its response, so it tries until the same question in other words is a hit.
func (q *questioner) seed() (namespace string) {
	q.t.Helper()
	tries := 0
	eventually(q.t, logLimit, "a question in other words is a hit", func() bool {
		tries++
		namespace = q.t.Name() + strconv.Itoa(tries)
		q.ask(namespace, "", storedQuestion)
		return q.ask(namespace, "", rephrased).Header.Get(cacheStatus) == "SEMANTIC HIT"
	})
	return namespace
}

// With the built-in embedding and no settings, a question in other words is a hit, and a trap is none.
// The response of a hit is that to the stored question. Everything but the question must be equal.
func TestSemanticCache(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	const agent = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"How can I reset my password now?"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"done"}]}`
	for _, c := range []struct {
		name, config, members, question, want string
		body                                  string // in place of members and question
	}{
		{name: "other words", question: "how can i reset my password", want: "SEMANTIC HIT"},
		{name: "as a stream", members: `"stream":true,`, question: "how can i reset my password", want: "SEMANTIC HIT"},
		{name: "the same words", question: storedQuestion, want: "HIT"},
		{name: "negation", question: "How do I not reset my password?", want: "SEMANTIC MISS"},
		{name: "negation without the guard", config: `{"cache":{"mode":"semantic","guard":false}}`, question: "How do I not reset my password?", want: "SEMANTIC HIT"},
		{name: "another subject", question: "What is the capital of France?", want: "SEMANTIC MISS"},
		{name: "another subject without the guard", config: `{"cache":{"mode":"semantic","guard":false}}`, question: "What is the capital of France?", want: "SEMANTIC MISS"},
		{name: "another parameter", members: `"temperature":1,`, question: rephrased, want: "SEMANTIC MISS"},
		{name: "a step of an agent", body: agent, want: "MISS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := questioner{t, g, up, semanticConfig}
			if c.config != "" {
				q.config = c.config
			}
			namespace := q.seed()
			sent := up.Total()
			body := c.body
			if body == "" {
				body = fmt.Sprintf(`{%s"model":"gpt-4o-mini","messages":[{"role":"user","content":%q}]}`, c.members, c.question)
			}
			a := q.send(namespace, body)
			if got := a.Header.Get(cacheStatus); got != c.want {
				t.Fatalf("the cache status is %q, want %q: %s", got, c.want, a.Body)
			}
			hit := strings.HasSuffix(c.want, "HIT")
			if n := up.Total() - sent; (n == 0) != hit {
				t.Errorf("%d calls reached the provider", n)
			}
			if hit && !strings.Contains(a.Body, "How do I reset") {
				t.Errorf("the response is not that to the stored question: %s", a.Body)
			}
		})
	}
	t.Run("Messages", func(t *testing.T) {
		ask := func(question string) string {
			body := fmt.Sprintf(`{"model":"gpt-4o-mini","max_tokens":99,"messages":[{"role":"user","content":%q}]}`, question)
			return g.call("POST", "/v1/messages", body, append(custom(up), "x-gateway-config: "+semanticConfig)...).want(t, 200).Header.Get(cacheStatus)
		}
		for _, c := range [][2]string{{storedQuestion, "MISS"}, {storedQuestion, "HIT"}, {rephrased, "MISS"}} {
			if got := ask(c[0]); got != c[1] {
				t.Errorf("%s: %q, want %q", c[0], got, c[1])
			}
		}
	})
}

// A hit is in the log with the question that it matched, its cosine and the result of the guard, costs
// nothing and names what it saved. The list and the graphs count it.
func TestSemanticCacheInLogAndGraphs(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	began := time.Now().UTC().Truncate(time.Minute)
	q := questioner{t, g, up, semanticConfig}
	namespace := q.seed()
	exact := q.ask(namespace, "", storedQuestion).Header.Get("x-gateway-request-id")
	semantic := q.ask(namespace, "", "how can i reset my password").Header.Get("x-gateway-request-id")
	trap := q.ask(namespace, "", "How do I not reset my password?").Header.Get("x-gateway-request-id")

	log := g.awaitLog(semantic)
	for path, want := range map[string]string{
		"cache.mode": "semantic", "cache.matched": storedQuestion, "metrics.cache_status": "SEMANTIC HIT", "metrics.cache_type": "semantic", "metrics.cost": "0",
	} {
		if got := log.get(path).String(); got != want {
			t.Errorf("%s of the log is %q, want %q: %s", path, got, want, log.Body)
		}
	}
	if cosine := log.get("cache.cosine").Float(); cosine < 0.85 || cosine > 1 {
		t.Errorf("the cosine is %v", cosine)
	}
	if log.get("cache.guard").String() == "" || log.get("metrics.cost_saved").Float() <= 0 || len(log.get("cache.key").String()) != 64 {
		t.Errorf("the log is %s", log.Body)
	}
	if log := g.awaitLog(exact); log.get("cache.matched").Exists() || log.get("metrics.cache_status").String() != "HIT" {
		t.Errorf("the log of the exact hit is %s", log.Body)
	}
	if log := g.awaitLog(trap); log.get("metrics.cache_status").String() != "SEMANTIC MISS" || log.get("cache.guard").String() == "" {
		t.Errorf("the log of the trap does not say why it missed: %s", log.Body)
	}

	listed := g.call("GET", "/v1/logs?cache_status=SEMANTIC%20HIT&page_size=100", "").want(t, 200)
	if n := listed.get("data.#").Int(); n != 2 || listed.get(`data.#(cache_status!="SEMANTIC HIT")`).Exists() {
		t.Errorf("%d semantic hits in the list: %s", n, listed.Body)
	}
	period := url.Values{"time_of_generation_min": {began.Format(time.RFC3339)}, "time_of_generation_max": {began.Add(30 * time.Minute).Format(time.RFC3339)}}
	graph := func(path string) callResult {
		return g.do(adminKey, "GET", "/v1/analytics/"+path+"?"+period.Encode(), nil)
	}
	total := g.call("GET", "/v1/logs", "").want(t, 200).get("total").Int()
	rate := graph("graphs/cache/hit-rate")
	if hits, share := rate.get("summary.total").Int(), rate.get("summary.rate").Float(); hits != 3 || share != float64(hits)*100/float64(total) {
		t.Errorf("%d hits, %v %% of %d: %s", hits, share, total, rate.Body)
	}
	sum := func(name string) (n int64) {
		for _, v := range rate.get("data_points.#." + name).Array() {
			n += v.Int()
		}
		return n
	}
	if simple, semantic := sum("simple_hits"), sum("semantic_hits"); simple != 1 || semantic != 2 {
		t.Errorf("%d simple and %d semantic hits: %s", simple, semantic, rate.Body)
	}
	points := rate.get("data_points").Array()
	if last := points[len(points)-1]; last.Get("cumulative_semantic_cache_savings").Float() <= 0 || last.Get("cumulative_simple_cache_savings").Float() <= 0 {
		t.Errorf("the savings are %s", last.Raw)
	}
	if summary := graph("summary/cache").get("summary"); summary.Get("hits").Int() != 3 || summary.Get("total_requests").Int() != total {
		t.Errorf("the summary is %s", summary.Raw)
	}
	slow := 0
	for _, p := range graph("graphs/cache/latency").get("data_points").Array() {
		if p.Get("avg").Float() > 0 {
			slow++
		}
	}
	if slow == 0 {
		t.Error("no point of the graph has a latency")
	}
}

// After a restart the responses on disk are exact hits. The vectors are gone, so that a question in
// other words misses.
func TestSemanticCacheOverARestart(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	q := questioner{t, start(t, with("RESPONSE_CACHE_STORE=disk")), up, semanticConfig}
	namespace := q.seed()
	q.g.stop()
	q.g = q.g.again()
	sent := up.Total()
	if got := q.ask(namespace, "", storedQuestion).Header.Get(cacheStatus); got != "HIT" || up.Total() != sent {
		t.Errorf("the cache status is %q after %d calls", got, up.Total()-sent)
	}
	if got := q.ask(namespace, "", rephrased).Header.Get(cacheStatus); got != "SEMANTIC MISS" {
		t.Errorf("the cache status in other words is %q", got)
	}
}

// Each value of x-gateway-cache-status, in the order of the calls.
func TestCacheStatusValues(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	const simple, disabled = `x-gateway-config: {"cache":{"mode":"simple"}}`, `x-gateway-config: {"cache":{"mode":"disabled"}}`
	const refresh = "x-gateway-cache-force-refresh: true"
	for i, c := range []struct {
		headers []string
		want    string
	}{
		{nil, "DISABLED"},
		{[]string{disabled}, "DISABLED"},
		{[]string{simple, "x-gateway-debug: false"}, "DISABLED"},
		{[]string{simple}, "MISS"},
		{[]string{simple}, "HIT"},
		{[]string{simple, refresh}, "REFRESH"},
		{[]string{simple}, "HIT"},
		{[]string{simple, "x-gateway-cache-namespace: n"}, "MISS"},
		{[]string{`x-gateway-config: {"cache":{"mode":"semantic"}}`, "x-gateway-cache-namespace: s"}, "SEMANTIC MISS"},
		{[]string{`x-gateway-config: {"cache":{"mode":"semantic"}}`, "x-gateway-cache-namespace: s"}, "HIT"},
		{[]string{`x-gateway-config: {"cache":{"mode":"semantic"}}`, "x-gateway-cache-namespace: s", refresh}, "REFRESH"},
	} {
		if got := g.chat(append(custom(up), c.headers...)...).Header.Get(cacheStatus); got != c.want {
			t.Errorf("call %d, %q: %q, want %q", i, c.headers, got, c.want)
		}
	}
}
