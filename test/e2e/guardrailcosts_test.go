package e2e

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// billed answers each chat call with 20 tokens of input and 900 of output.
func billed(s upstream.Seen) *upstream.Response {
	const usage = `"usage":{"prompt_tokens":20,"completion_tokens":900,"total_tokens":920}`
	r := upstream.JSON(200, json.RawMessage(`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"a forbidden text"},"finish_reason":"stop"}],`+usage+`}`))
	if strings.Contains(string(s.Body), `"stream":true`) {
		const head = `data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[`
		r = upstream.Stream(
			head+`{"index":0,"delta":{"role":"assistant","content":"a forbidden"},"finish_reason":null}]}`+"\n\n",
			head+`{"index":0,"delta":{"content":" text"},"finish_reason":"stop"}]}`+"\n\n", head+`],`+usage+`}`+"\n\n", "data: [DONE]\n\n")
	}
	return &r
}

// costOfBilled is the cost of such a call in nano-dollars.
const costOfBilled = 20*2_500 + 900*10_000

const billedCall = `{"model":"gpt-4o","service_tier":"default","max_tokens":1000,"messages":[{"role":"user","content":"Hello there"}]}`

// payer is a key with limits.
type payer struct {
	g       *gateway
	id, key string
}

// newPayer makes a key of the workspace with fields such as its limits.
func newPayer(t *testing.T, g *gateway, fields object) *payer {
	t.Helper()
	fields["name"], fields["scopes"] = "payer", []string{"completions.write", "logs.view", "logs.list"}
	made := g.do(g.key, "POST", "/v1/api-keys/workspace/service", fields)
	p := &payer{g, made.get("id").String(), made.get("key").String()}
	eventually(t, inForce, "the key is known", func() bool { return g.call("GET", "/v1/logs", "", p.as()).Status == 200 })
	return p
}

func (p *payer) as() string { return "x-gateway-api-key: " + p.key }

// expectUsed waits until the key's budget and its logs have an amount in nano-dollars.
func (p *payer) expectUsed(t *testing.T, nano int64) {
	t.Helper()
	want := fmt.Sprintf("%.9f", float64(nano)/1e9)
	var used, logged string
	defer func() {
		if used != want || logged != want {
			t.Logf("the budget has %s and the log %s dollars, want %s", used, logged, want)
		}
	}()
	eventually(t, logLimit, "the budget and the log have the cost", func() bool {
		used = fmt.Sprintf("%.9f", p.g.do(adminKey, "GET", "/v1/api-keys/"+p.id, nil).get("usage_limits.current_usage").Float())
		var cents float64
		for _, c := range p.g.call("GET", "/v1/logs?page_size=100&api_key_ids="+p.id, "").want(t, 200).get("data.#.cost").Array() {
			cents += c.Float()
		}
		logged = fmt.Sprintf("%.9f", cents/100)
		return used == want && logged == want
	})
}

// The tokens that a provider counted for a denied answer are on the ledger, in budgets and in token
// limits, whatever form the denial has. A usage field of the body has them.
func TestDeniedAnswerIsCharged(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	up.Script(billed)
	g := start(t)
	for name, c := range map[string]struct {
		members string // of the guardrail
		stream  bool
		status  int
	}{
		"status 446":        {"", false, statusDenied},
		"status 200":        {`"soft_deny_200":true,`, false, 200},
		"an ended stream":   {"", true, 200},
		"a held stream":     {`"stream":"hold",`, true, 200},
		"a reported stream": {`"stream":"report",`, true, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPayer(t, g, object{
				"usage_limits": object{"type": "cost", "credit_limit": 1},
				"rate_limits":  []object{{"type": "tokens", "unit": "rpw", "value": 1500}},
			})
			body := billedCall
			if c.stream {
				body = strings.Replace(body, `{`, `{"stream":true,"stream_options":{"include_usage":true},`, 1)
			}
			headers := append(custom(up), p.as(), `x-gateway-config: {"output_guardrails":[{`+c.members+`"deny":true,"regexMatch":{"rule":"forbidden","not":true}}]}`)
			a := g.call("POST", "/v1/chat/completions", body, headers...).want(t, c.status)
			if c.status == 200 && !strings.Contains(a.Body, `"completion_tokens":900`) {
				t.Errorf("the usage of the body lacks the tokens: %s", a.Body)
			}
			p.expectUsed(t, costOfBilled)
			log := g.awaitLog(a.Header.Get("x-gateway-request-id"))
			if log.get("metrics.total_units").Int() != 920 || !strings.HasSuffix(name, "reported stream") && log.get("response.status").Int() != statusDenied {
				t.Errorf("the log is %s", log.Body)
			}
			g.call("POST", "/v1/chat/completions", body, headers...).want(t, 429) // 580 tokens are left
		})
	}
}

// judgedModel is a provider whose model accepts each text. Its calls cost the same each.
func judgedModel(t *testing.T, g *gateway) *upstream.Server {
	t.Helper()
	judge := upstream.Start(t)
	judge.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, json.RawMessage(
		`{"id":"j","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"{\"pass\":true,\"reason\":\"fine\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`))))
	g.saveProvider("judge", judge)
	return judge
}

// costOfJudge is the cost of a verdict in nano-dollars.
const costOfJudge = 100*2_500 + 10*10_000

const llmJudge = `"input_guardrails":[{"id":"judge","deny":true,"gateway.llmJudge":{"model":"@judge/gpt-4o","rubric":"The text is polite."}}]`

// A call that a budget of its provider would refuse is refused before the paid check, also if the cache
// has an answer. Retries and fallback targets reuse a verdict. What a verdict costs is on the ledger of
// the caller, under a log of its own.
func TestPaidCheckIsPaidOnceAndLast(t *testing.T) {
	t.Parallel()
	up, broken := upstream.Start(t), upstream.Start(t)
	up.Script(billed)
	broken.Handle("/v1/chat/completions", upstream.Always(upstream.OpenAIError(503, "server_error", "", "out of order")))
	g := start(t)
	judge := judgedModel(t, g)
	for slug, server := range map[string]*upstream.Server{"main": up, "broken": broken, "limited": up} {
		g.saveProvider(slug, server)
	}
	g.do(g.key, "PUT", "/v1/providers/limited", object{"usage_limits": object{"type": "tokens", "credit_limit": 1500}})

	t.Run("retries and fallbacks", func(t *testing.T) {
		p := newPayer(t, g, object{"usage_limits": object{"type": "cost", "credit_limit": 1}})
		config := `x-gateway-config: {"strategy":{"mode":"fallback"},"retry":{"attempts":2,"on_status_codes":[503]},"targets":[{"provider":"@broken"},{"provider":"@main"}],` + llmJudge + `}`
		before := judge.Total()
		a := g.call("POST", "/v1/chat/completions", billedCall, p.as(), config).want(t, 200)
		if n := judge.Total() - before; n != 1 || broken.Total() != 3 {
			t.Errorf("%d verdicts for %d calls of the first target: %s", n, broken.Total(), a.Body)
		}
		p.expectUsed(t, costOfBilled+costOfJudge)
		spans := g.call("GET", "/v1/logs?page_size=100", "", p.as()).want(t, 200).get(`data.#(span_name=="guardrail judge").cost`)
		if got := fmt.Sprintf("%.6f", spans.Float()); got != fmt.Sprintf("%.6f", float64(costOfJudge)/1e7) {
			t.Errorf("the log of the verdict costs %s cents", got)
		}
	})

	t.Run("after the budget", func(t *testing.T) {
		config := `x-gateway-config: {"provider":"@limited","cache":{"mode":"simple"},` + llmJudge + `}`
		g.call("POST", "/v1/chat/completions", billedCall, config).want(t, 200)
		before, calls := judge.Total(), up.Total()
		a := g.call("POST", "/v1/chat/completions", billedCall, config)
		if a.Status != 412 || judge.Total() != before || up.Total() != calls {
			t.Errorf("%d %s, %d verdicts", a.Status, a.Body, judge.Total()-before)
		}
	})
}

// A hit costs what its paid parts cost: the verdict of a model, the embedding of the question. Both have
// logs of their own. The replayed tokens count in no limit.
func TestHitCostsItsPaidParts(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	up.Script(billed)
	embeddings := upstream.Start(t)
	embeddings.Handle("/v1/embeddings", embedding)
	g := start(t, with("RESPONSE_CACHE_STORE=memory", "SEMANTIC_CACHE_EMBEDDING_PROVIDER=openai", "SEMANTIC_CACHE_EMBEDDING_API_KEY=sk-embeddings",
		"SEMANTIC_CACHE_EMBEDDINGS_URL="+embeddings.URL()+"/v1", "SEMANTIC_CACHE_EMBEDDING_DIMENSIONS=3"))
	judge := judgedModel(t, g)
	g.saveProvider("main", up)
	g.saveGuardrail("pg-paid", "zscaler.executePolicy", object{
		"policyId": "760", "cost_per_call": 0.001, "credentials": object{"apiKey": "k", "baseUrl": partnerService(t).URL()},
	}, object{"deny": true})
	const costOfEmbedding, costOfService = 50 * 20, 1_000_000 // nano-dollars
	for name, c := range map[string]struct {
		config, second, want string
		each                 int64 // cost of the paid parts of a call
	}{
		"free":      {`"cache":{"mode":"simple"}`, "Hello there", "HIT", 0},
		"judged":    {`"cache":{"mode":"simple"},` + llmJudge, "Hello there", "HIT", costOfJudge},
		"service":   {`"cache":{"mode":"simple"},"input_guardrails":["pg-paid"]`, "Hello there", "HIT", costOfService},
		"embedding": {`"cache":{"mode":"semantic"}`, "hello there", "SEMANTIC HIT", costOfEmbedding},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPayer(t, g, object{
				"usage_limits": object{"type": "cost", "credit_limit": 1},
				"rate_limits":  []object{{"type": "tokens", "unit": "rpw", "value": 3000}},
			})
			headers := []string{p.as(), `x-gateway-config: {"provider":"@main",` + c.config + `}`, "x-gateway-cache-namespace: " + name}
			g.call("POST", "/v1/chat/completions", billedCall, headers...).want(t, 200)
			p.expectUsed(t, costOfBilled+c.each)
			body := strings.Replace(billedCall, "Hello there", c.second, 1)
			var hit callResult
			calls := int64(1)
			eventually(t, logLimit, "the response is a hit", func() bool {
				calls++
				hit = g.call("POST", "/v1/chat/completions", body, headers...).want(t, 200)
				return hit.Header.Get(cacheStatus) == c.want
			})
			if calls != 2 {
				t.Fatalf("the hit was call %d", calls)
			}
			p.expectUsed(t, costOfBilled+2*c.each)
			log := g.awaitLog(hit.Header.Get("x-gateway-request-id"))
			if log.get("metrics.cost").Float() != 0 || log.get("metrics.total_units").Int() != 0 {
				t.Errorf("the log of the hit is %s", log.Body)
			}
			if got := log.get("cache.lookup_cost").Float(); name == "embedding" && fmt.Sprintf("%.7f", got) != fmt.Sprintf("%.7f", costOfEmbedding/1e7) {
				t.Errorf("the lookup costs %v cents", got)
			}
			// 920 tokens are used, and those of the paid calls. The replayed ones would leave too few.
			g.call("POST", "/v1/chat/completions", strings.Replace(billedCall, "Hello there", "Good bye", 1), headers...).want(t, 200)
		})
	}
	if judge.Total() != 3 {
		t.Errorf("%d verdicts, want 3", judge.Total())
	}
}

// embedding answers with a vector that depends on the letters of the text, whatever their case.
func embedding(s upstream.Seen) *upstream.Response {
	h := fnv.New32()
	_, _ = h.Write([]byte(strings.ToLower(gjsonText(s.Body, "input.0") + gjsonText(s.Body, "input"))))
	sum := h.Sum32()
	vector := fmt.Sprintf("[%d,%d,%d]", 1+sum%7, 1+sum/7%11, 1+sum/77%13)
	r := upstream.JSON(200, json.RawMessage(`{"object":"list","data":[{"object":"embedding","index":0,"embedding":`+vector+`}],"model":"text-embedding-3-small","usage":{"prompt_tokens":50,"total_tokens":50}}`))
	return &r
}
