package gateway_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// What gpt-4o-mini costs in nano-dollars a token.
const (
	miniInput  = 150
	miniOutput = 600
)

// chatOf is an answer with a usage.
func chatOf(input, out int) upstream.Response {
	return upstream.JSON(200, json.RawMessage(fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, input, out, input+out)))
}

const capped = `{"model":"gpt-4o-mini","max_tokens":100,"messages":[{"role":"user","content":"Hello there"}]}`

// limited gives the key of the tests, or what else has the kind and id, limits.
func (r *rig) limited(kind, id string, l quota.Limits) *quota.Plan {
	p := quota.NewPlan(quota.Subject{Kind: kind, ID: id, OrgID: org, WorkspaceID: workspace}, kind+" of the tests", l)
	r.dir.limits[[2]string{kind, id}] = p
	return p
}

func (r *rig) keyID() string {
	for _, e := range r.dir.keys {
		if e.Principal.Name == key[:8] && e.Principal.WorkspaceID == workspace && len(e.Key.Scopes) > 1 {
			return e.Principal.ID
		}
	}
	r.t.Fatal("no key")
	return ""
}

func budget(m quota.Measure, limit float64) quota.Budget {
	return quota.Budget{ID: ident.NewID(), Measure: m, CreditLimit: quota.Amount(limit * float64(quota.One))}
}

// A call is on the ledger before it is sent, and its record closes the line with what
// the provider counted, to the nano-dollar.
func TestCallIsReservedAndSettled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		if lines := r.journal.ledger(); len(lines) != 1 || lines[0].State != ledger.Reserved {
			t.Errorf("sent with the ledger at %+v", lines)
		}
		a := chatOf(20, 48)
		return &a
	})
	if a := r.call("POST", "/v1/chat/completions", capped, r.custom()...); a.StatusCode != 200 {
		t.Fatal(a.Text)
	}
	lines, row := r.journal.ledger(), r.journal.one(t)
	if len(lines) != 2 || lines[0].ID != lines[1].ID || lines[1].State != ledger.Settled || lines[0].Amount < lines[1].Amount {
		t.Fatalf("ledger: %+v", lines)
	}
	const want = 20*miniInput + 48*miniOutput
	if s := row.Spend; s.State != "settled" || s.Cost != want || s.Unpriced != "" || s.Version == "" || s.MaxCost != lines[0].Amount {
		t.Errorf("spend %+v, want a cost of %d", s, want)
	}
	var terms []struct {
		Dimension string
		Units     int64
		Nano      int64
	}
	if err := json.Unmarshal([]byte(row.Spend.Terms), &terms); err != nil || len(terms) != 2 || terms[0].Nano+terms[1].Nano != want {
		t.Errorf("terms %s: %v", row.Spend.Terms, err)
	}
}

// There is one rule for each way in which a call can end. Source: docs/money.md.
func TestEveryEndHasItsRule(t *testing.T) {
	t.Parallel()
	stream := strings.Replace(capped, "{", `{"stream":true,`, 1)
	chunk := func(s string) string {
		return `data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"` + s + `"}}]}` + "\n\n"
	}
	usage := `data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}` + "\n\n"
	const done = "data: [DONE]\n\n"
	broken := upstream.Stream(chunk("one two three"), chunk(" four"))
	broken.End = upstream.Cut
	silent := upstream.JSON(200, json.RawMessage(`{"id":"c","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"one two three"},"finish_reason":"stop"}]}`))
	for _, c := range []struct {
		name, body string
		response   upstream.Response
		state      string
		minCost    int64
		maxCost    int64
	}{
		{"counted", capped, chatOf(9, 3), "settled", 9*miniInput + 3*miniOutput, 9*miniInput + 3*miniOutput},
		{"a stream, counted", stream, upstream.Stream(chunk("Hi"), usage, done), "settled", 9*miniInput + 3*miniOutput, 9*miniInput + 3*miniOutput},
		{"not counted", capped, silent, "estimated", 8*miniInput + 3*miniOutput, 20*miniInput + 5*miniOutput},
		{"a stream, not counted", stream, upstream.Stream(chunk("one two three"), done), "estimated", 8*miniInput + 3*miniOutput, 20*miniInput + 5*miniOutput},
		{"a stream that is cut", stream, broken, "estimated", 8*miniInput + 4*miniOutput, 20*miniInput + 6*miniOutput},
		{"refused by the provider", capped, upstream.OpenAIError(429, "rate_limit", "", "slow down"), "released", 0, 0},
		{"refused in an answer of success", capped, upstream.JSON(200, json.RawMessage(`{"error":{"message":"slow down","code":429}}`)), "released", 0, 0},
		{"refused by the first event", stream, upstream.Stream(`data: {"error":{"message":"slow down","code":429}}` + "\n\n"), "released", 0, 0},
		{"garbage", capped, upstream.Text(200, "application/json", "{]"), "estimated", 8 * miniInput, 20 * miniInput},
		{"cut before an answer", capped, upstream.Response{End: upstream.Cut, Raw: []byte("HTTP/1.1 200 O")}, "estimated", 8 * miniInput, 20 * miniInput},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", upstream.Always(c.response))
			r.call("POST", "/v1/chat/completions", c.body, r.custom()...)
			row := r.journal.one(t)
			if s := row.Spend; s.State != c.state || s.Cost < c.minCost || s.Cost > c.maxCost {
				t.Errorf("%s: %s %d, want %s from %d to %d; usage %+v", row.Outcome, s.State, s.Cost, c.state, c.minCost, c.maxCost, row.Usage)
			}
			if lines := r.journal.ledger(); len(lines) != 2 || lines[1].Amount != row.Spend.Cost {
				t.Errorf("ledger: %+v", lines)
			}
		})
	}
}

// An answer that came whole and is given as a stream is counted as one that came whole.
func TestReplayedStreamIsCounted(t *testing.T) {
	t.Parallel()
	const ask = `{"model":"j2-mid","max_tokens":100,"messages":[{"role":"user","content":"Hello there"}]`
	for surface, path := range map[string]string{"chat": "/v1/chat/completions", "messages": "/v1/messages"} {
		var used [2]int64
		for i, end := range [...]string{`}`, `,"stream":true}`} {
			r := newRig(t)
			r.up.Handle("/j2-mid/chat", upstream.Always(upstream.JSON(200, json.RawMessage(`{"id":"1","outputs":[{"text":"one two three","role":"assistant","finishReason":{"reason":"endoftext"}}]}`))))
			r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 1000)}})
			a := r.call("POST", path, ask+end, r.as(speaker{id: "ai21"})...)
			row := r.journal.one(t)
			lines := r.journal.ledger()
			if a.StatusCode != 200 || row.Spend.State != "estimated" || len(lines) != 2 || len(lines[1].Charges) != 1 {
				t.Fatalf("%s%s: %d %s, %+v, ledger %+v", surface, end, a.StatusCode, a.Text, row.Spend, lines)
			}
			used[i] = lines[1].Charges[0].Units
		}
		if used[0] < 11 || used[1] != used[0] {
			t.Errorf("%s: %d tokens of the whole answer, %d of its stream", surface, used[0], used[1])
		}
	}
}

// What never left costs nothing and closes its line.
func TestUnsentIsReleased(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("POST", "/v1/chat/completions", capped, "x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: "+upstream.Refused(t)+"/v1")
	if row := r.journal.one(t); row.Spend.State != "released" || row.Spend.Cost != 0 {
		t.Errorf("%s: %+v", row.Outcome, row.Spend)
	}
}

// A request that takes several calls is not undone by one that finds nobody: what went
// before was served.
func TestSentStaysSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { // one call, and nobody is there any more
		c, err := ln.Accept()
		if ln.Close() != nil || err != nil {
			return
		}
		defer c.Close()
		if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 44\r\n\r\n"+`{"embedding":[0.25],"inputTextTokenCount":1}`)
		}
	}()
	headers := append(r.bedrock(), "x-gateway-custom-host: http://"+ln.Addr().String())
	r.call("POST", "/v1/embeddings", `{"model":"amazon.titan-embed-text-v2:0","input":["one","two"]}`, headers...)
	if row := r.journal.one(t); row.Spend.State != "estimated" {
		t.Errorf("%s: %s: %+v", row.Outcome, row.Error, row.Spend)
	}
}

// Each try has a line of its own under one request.
func TestRetriesHaveLines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.InTurn(upstream.OpenAIError(503, "server_error", "", "later"), chatOf(9, 3)))
	cfg := fmt.Sprintf(`{"retry":{"attempts":1},"provider":"openai","api_key":"k","custom_host":"%s/v1"}`, r.up.URL())
	r.call("POST", "/v1/chat/completions", capped, "x-gateway-config: "+cfg)
	lines := r.journal.ledger()
	if len(lines) != 4 || lines[0].ID == lines[2].ID || lines[1].State != ledger.Released || lines[3].State != ledger.Settled || lines[3].RequestID != lines[0].RequestID {
		t.Errorf("ledger: %+v", lines)
	}
}

// A budget of one dollar lets a thousand callers spend one dollar at most, in their worst
// case, and gives back what they did not use.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 0.01)}})
	var inside, peak atomic.Int64
	r.up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		n := inside.Add(1)
		for m := peak.Load(); n > m && !peak.CompareAndSwap(m, n); m = peak.Load() {
		}
		defer inside.Add(-1)
		a := chatOf(12, 100)
		a.Wait = 5 * time.Millisecond
		return &a
	})
	var passed, refused atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 20 {
				switch a := r.call("POST", "/v1/chat/completions", capped, r.custom()...); a.StatusCode {
				case 200:
					passed.Add(1)
				case 412:
					refused.Add(1)
				default:
					t.Error(a.StatusCode, a.Text)
				}
			}
		})
	}
	wg.Wait()
	const each = 12*miniInput + 100*miniOutput
	s := r.limiter.State(time.Now(), &plan.Budgets[0])
	if s.Used != passed.Load()*each || s.Held != 0 || s.Used > plan.Budgets[0].Limit {
		t.Errorf("%d passed at %d each: %+v", passed.Load(), each, s)
	}
	if refused.Load() == 0 || passed.Load() < 100 {
		t.Errorf("%d passed, %d refused", passed.Load(), refused.Load())
	}
}

// Refusals have the words of the contract, say whether a retry helps, and reach no
// provider. Source: contract/identity-and-governance.md sections 6 and 7.
func TestLimitsRefuse(t *testing.T) {
	t.Parallel()
	policy := func(conditions, limits string) *quota.Policy {
		var p quota.UsageLimit
		if err := json.Unmarshal([]byte(`{"name":"p","conditions":`+conditions+`,`+limits+`}`), &p); err != nil {
			t.Fatal(err)
		}
		return p.Compile("0191f3a0-0000-7000-8000-0000000000aa")
	}
	for _, c := range []struct {
		name    string
		limit   func(r *rig)
		status  int
		has     []string
		retry   string
		again   string
		headers bool
	}{
		{"a budget that is too small for the call", func(r *rig) {
			r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 50)}})
		}, 412, []string{`"type":"api_key_exhaust_error"`, `"code":"04"`, `"retryable":false`, "set max_tokens lower"}, "", "false", false},
		{"a rate of the key", func(r *rig) {
			r.limited(keys.Kind, r.keyID(), quota.Limits{Rates: []quota.Rate{{Type: quota.Requests, Unit: quota.PerWeek, Value: 1}}})
			r.call("POST", "/v1/chat/completions", capped, r.custom()...)
		}, 429, []string{`"code":"05"`, `"status":"failure"`, `"retryable":true`, "1 requests a week"}, "some", "false", true},
		{"a rate of the workspace, in tokens", func(r *rig) {
			r.limited(tenant.WorkspaceKind, workspace, quota.Limits{Rates: []quota.Rate{{Type: quota.Tokens, Unit: quota.PerWeek, Value: 130}}})
			r.call("POST", "/v1/chat/completions", capped, r.custom()...)
		}, 429, []string{`"code":"05"`, "130 tokens a week"}, "some", "false", true},
		{"a policy", func(r *rig) {
			r.dir.policies = &quota.Policies{Usage: []*quota.Policy{policy(`[{"key":"model","value":"@openai/gpt-4o-mini"}]`, `"type":"tokens","credit_limit":20`)}}
		}, 412, []string{`"type":"usage_limits_policy_exhaust_error"`, `"code":"06"`, "0191f3a0-0000-7000-8000-0000000000aa"}, "", "false", false},
		{"a policy on a saved config, by its slug", func(r *rig) {
			r.dir.config(t, "pc-a", `{"provider":"openai","api_key":"k"}`)
			r.dir.policies = &quota.Policies{Usage: []*quota.Policy{policy(`[{"key":"config","value":"pc-a"}]`, `"group_by":[{"key":"config"}],"type":"tokens","credit_limit":20`)}}
			r.dir.scope.Defaults.ConfigID = "pc-a"
		}, 412, []string{`"code":"06"`, "config:id of pc-a"}, "", "false", false},
		{"a policy on the workspace, by its slug", func(r *rig) {
			r.dir.scope.Slug = "ws-a"
			r.dir.policies = &quota.Policies{Usage: []*quota.Policy{policy(`[{"key":"workspace_id","value":"ws-a"}]`, `"type":"tokens","credit_limit":20`)}}
		}, 412, []string{`"code":"06"`}, "", "false", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c.limit(r)
			before := len(r.up.Seen())
			headers := r.custom()
			if r.dir.scope.Defaults.ConfigID != "" {
				headers = nil
			}
			a := r.call("POST", "/v1/chat/completions", capped, headers...)
			if a.StatusCode != c.status || len(r.up.Seen()) != before {
				t.Fatalf("%d %s; the provider saw %d", a.StatusCode, a.Text, len(r.up.Seen())-before)
			}
			for _, want := range c.has {
				if !strings.Contains(a.Text, want) {
					t.Errorf("%s lacks %s", a.Text, want)
				}
			}
			if got := a.Header.Get("retry-after"); (got != "") != (c.retry != "") || a.Header.Get("x-should-retry") != c.again {
				t.Errorf("retry-after %q, x-should-retry %q", got, a.Header.Get("x-should-retry"))
			}
			if got := a.Header.Get("x-gateway-ratelimit-limit"); (got != "") != c.headers {
				t.Errorf("x-gateway-ratelimit-limit %q", got)
			}
		})
	}
}

// A refusal at a target lets the walk go on to one that is cheap enough.
func TestFallbackOverBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 0.0005)}})
	cfg := fmt.Sprintf(`{"strategy":{"mode":"fallback","on_status_codes":[412]},"targets":[{"provider":"openai","api_key":"k","custom_host":"%s/v1","override_params":{"model":"gpt-4o"}},{"provider":"openai","api_key":"k","custom_host":"%s/v1"}]}`, r.up.URL(), r.up.URL())
	if a := r.call("POST", "/v1/chat/completions", capped, "x-gateway-config: "+cfg); a.StatusCode != 200 || a.Header.Get("x-gateway-last-used-option-index") != "config.targets[1]" {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

// A call that cannot be put on the ledger is not sent, and what it held comes back.
func TestNoCallWithoutALine(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1)}})
	r.journal.full = errors.New("journal is full")
	a := r.call("POST", "/v1/chat/completions", capped, r.custom()...)
	if a.StatusCode != http.StatusServiceUnavailable || len(r.up.Seen()) != 0 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held != 0 || s.Used != 0 {
		t.Errorf("%+v", s)
	}
}

// Who has used up a budget may still read back what there is.
func TestReadingBackIsFree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1)}, Rates: []quota.Rate{{Type: quota.Requests, Unit: quota.PerDay, Value: 1}}})
	hold := plan.Budgets[0]
	hold.Amount = hold.Limit
	if i, _, _ := r.limiter.Take(time.Now(), []quota.Hold{hold}); i >= 0 {
		t.Fatal("the budget is used up already")
	}
	for _, path := range []string{"/v1/files", "/v1/batches/b", "/v1/models"} {
		if a := r.call("GET", path, "", r.custom()...); a.StatusCode == 412 || a.StatusCode == 429 {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.Text)
		}
	}
	if n := len(r.journal.ledger()); n != 0 {
		t.Errorf("%d lines", n)
	}
}

// A model without a price has no cost and says why.
func TestUnknownModelHasNoCost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(chatOf(9, 3)))
	r.call("POST", "/v1/chat/completions", strings.Replace(capped, "gpt-4o-mini", "gpt-none", 1), r.custom()...)
	row := r.journal.one(t)
	if row.Spend.State != "settled" || row.Spend.Cost != 0 || row.Spend.Unpriced != "unknown_model" || !r.journal.ledger()[1].Unpriced {
		t.Errorf("%+v", row.Spend)
	}
}

// A document is billed by its pages, by what the provider says it read or else by what it
// answers; those that were annotated have a price of their own.
func TestPagesAreBilled(t *testing.T) {
	t.Parallel()
	const (
		page, annotated = 2_000_000, 3_000_000 // nano-dollars, of mistral-ocr-2512
		document        = `{"model":"mistral-ocr-2512","document":{"type":"document_url","document_url":"https://example.com/a.pdf"}`
		pages           = `"pages":[{"index":0,"markdown":"a"},{"index":1,"markdown":"b"}]`
	)
	for _, c := range []struct {
		name, body, response string
		cost, maxCost        int64
	}{
		{"counted", document + `}`, `{` + pages + `,"model":"mistral-ocr-2512","usage_info":{"pages_processed":29,"doc_size_bytes":100}}`, 29 * page, 1000 * page},
		{"not counted", document + `,"pages":[0,1,2]}`, `{` + pages + `}`, 2 * page, 3 * page},
		{"annotated", document + `,"bbox_annotation_format":{"type":"json_schema"}}`, `{"usage_info":{"pages_processed":3},` + pages + `}`, 3 * annotated, 1000 * annotated},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/ocr", upstream.Always(upstream.JSON(200, json.RawMessage(c.response))))
			if a := r.call("POST", "/v1/ocr", c.body, "x-gateway-provider: mistral-ai", "authorization: Bearer sk-upstream", "x-gateway-custom-host: "+r.up.URL()+"/v1"); a.StatusCode != 200 {
				t.Fatal(a.Text)
			}
			if s := r.journal.one(t).Spend; s.State != "settled" || s.Cost != c.cost || s.MaxCost != c.maxCost || s.Unpriced != "" {
				t.Errorf("%+v, want a cost of %d within %d", s, c.cost, c.maxCost)
			}
		})
	}
}

// Tools that the provider runs are billed by what it says of them and by their items, and
// what they may cost is held before.
func TestToolsOfTheProviderAreBilled(t *testing.T) {
	t.Parallel()
	const (
		tokens  = `"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}`
		web     = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`
		files   = `{"type":"file_search_call","id":"fs_1","status":"completed","queries":["q"]}`
		code    = `{"type":"code_interpreter_call","id":"ci_1","status":"completed","container_id":"cntr_1"}`
		search  = 10_000_000 // nano-dollars
		ofFiles = 2_500_000

		container = 30_000_000
		large     = `{"type":"code_interpreter","container":{"type":"auto","memory_limit":"4g"}}`
	)
	for _, c := range []struct {
		name, tools, response string
		cost                  int64
		unpriced              string
	}{
		{"searches", `{"type":"web_search"},{"type":"file_search","vector_store_ids":["vs_1"]}`, `{"id":"r","output":[` + web + `,` + files + `,` + web + `],` + tokens + `}`, 2*search + ofFiles, ""},
		{"searches, spelled with escapes", `{"type":"web_se\u0061rch"},{"type":"file_sear\u0063h","vector_store_ids":["vs_1"]}`, `{"id":"r","output":[` + web + `,` + files + `,` + web + `],` + tokens + `}`, 2*search + ofFiles, ""},
		{"searches that are counted", `{"type":"web_search"}`, `{"id":"r","output":[` + web + `,` + web + `],"tool_usage":{"web_search":{"num_requests":1}},` + tokens + `}`, search, ""},
		{"code", `{"type":"code_interpreter","container":{"type":"auto"}}`, `{"id":"r","output":[` + code + `],` + tokens + `}`, container, ""},
		{"code in a large container", large, `{"id":"r","output":[` + code + `],"tools":[` + large + `],` + tokens + `}`, 4 * container, ""},
		{
			"a shell", `{"type":"shell","environment":{"type":"container_auto"}}`,
			`{"id":"r","output":[{"type":"shell_call","environment":{"type":"container_reference","container_id":"cntr_1"}},` + code + `,{"type":"shell_call","environment":{"type":"local"}},{"type":"shell_call","environment":null}],` + tokens + `}`, container, "",
		},
		{"a picture", `{"type":"image_generation"}`, `{"id":"r","output":[],"tool_usage":{"image_gen":{"input_tokens":12,"output_tokens":196}},` + tokens + `}`, 0, "no_rate:image_generation_text_input_tokens"},
		{"no picture", `{"type":"image_generation"}`, `{"id":"r","output":[],"tool_usage":{"image_gen":{"input_tokens":0,"output_tokens":0,"total_tokens":0},"web_search":{"num_requests":0}},` + tokens + `}`, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/responses", upstream.Always(upstream.JSON(200, json.RawMessage(c.response))))
			body := `{"model":"gpt-5.6-sol","input":"x","max_output_tokens":16,"tools":[` + c.tools + `]}`
			if a := r.call("POST", "/v1/responses", body, "x-gateway-provider: openai", "authorization: Bearer sk-upstream", "x-gateway-custom-host: "+r.up.URL()+"/v1"); a.StatusCode != 200 {
				t.Fatal(a.Text)
			}
			if s := r.journal.one(t).Spend; s.State != "settled" || s.Cost != c.cost || s.MaxCost < c.cost || s.Unpriced != c.unpriced {
				t.Errorf("%+v, want a cost of %d", s, c.cost)
			}
		})
	}
}

// Some searches have a price of their own: by the tool that makes them, and of models that
// search for each chat without saying so.
func TestSearchesOfOpenAIAreBilledByTheirKind(t *testing.T) {
	t.Parallel()
	const (
		found       = `{"id":"r","output":[{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}],"tools":[{"type":"TOOL"}],"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}}`
		chat        = `{"id":"c","object":"chat.completion","model":"MODEL","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`
		requestBody = `{"model":"MODEL","max_tokens":16,"max_output_tokens":16,"messages":[{"role":"user","content":"x"}],"input":"x","tools":[{"type":"TOOL"}]}`
		usual       = 10_000_000 // nano-dollars
		dearer      = 25_000_000
	)
	for _, c := range []struct {
		name, path, model, tool string
		cost                    int64
	}{
		{"a search", "/v1/responses", "gpt-4o", "web_search", usual},
		{"by the tool of before", "/v1/responses", "gpt-4o", "web_search_preview_2025_03_11", dearer},
		{"by it, of a model that reasons", "/v1/responses", "gpt-5.6-sol", "web_search_preview", usual},
		{"of a chat", "/v1/chat/completions", "gpt-4o-mini-search-preview", "", dearer},
		{"of a later one", "/v1/chat/completions", "gpt-5-search-api", "", usual},
		{"of no chat", "/v1/chat/completions", "gpt-4o", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			replacer := strings.NewReplacer("MODEL", c.model, "TOOL", c.tool, `,"tools":[{"type":"TOOL"}]`, map[bool]string{true: `,"tools":[{"type":"` + c.tool + `"}]`}[c.tool != ""])
			r := newRig(t)
			r.up.Handle("/v1/responses", upstream.Always(upstream.JSON(200, json.RawMessage(replacer.Replace(found)))))
			r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, json.RawMessage(replacer.Replace(chat)))))
			if a := r.call("POST", c.path, replacer.Replace(requestBody), "x-gateway-provider: openai", "authorization: Bearer sk-upstream", "x-gateway-custom-host: "+r.up.URL()+"/v1"); a.StatusCode != 200 {
				t.Fatal(a.Text)
			}
			if s := r.journal.one(t).Spend; s.State != "settled" || s.Cost != c.cost || s.MaxCost < c.cost || s.Unpriced != "" {
				t.Errorf("%+v, want a cost of %d", s, c.cost)
			}
		})
	}
}

// An error that comes with a usage costs that.
func TestErrorWithUsageIsBilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(400, json.RawMessage(`{"error":{"message":"no","type":"invalid_request_error"},"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`))))
	if a := r.call("POST", "/v1/chat/completions", capped, r.custom()...); a.StatusCode != 400 {
		t.Fatal(a.StatusCode, a.Text)
	}
	if s := r.journal.one(t).Spend; s.State != "settled" || s.Cost != 9*miniInput+3*miniOutput {
		t.Errorf("%+v", s)
	}
}

// However the path of a route is spelled, its calls are those of the route: an answer whose
// provider counts only when it is asked to, as in streams, is not had for nothing.
func TestRouteIsMeteredByWhateverPath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/chat/completions/", "/v1//chat//completions", "/v1/chat/./completions", "/v1/v1/chat/completions/", "/v1/proxy/chat/completions%2F"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", upstream.Always(chatOf(20, 48)))
			if a := r.call("POST", path, hello, r.custom()...); a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			if row := r.journal.one(t); row.Endpoint != "chatComplete" || row.Spend.State != "settled" || row.Spend.Cost <= 0 {
				t.Errorf("%s, %+v", row.Endpoint, row.Spend)
			}
		})
	}
}
