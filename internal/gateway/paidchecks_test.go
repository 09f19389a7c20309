package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/outbound"
	"sluice/internal/gateway/guardrails/partner"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/provider/netguard"
	"sluice/internal/test/listen"
	"sluice/internal/test/upstream"
)

// paidRig is a rig whose checks can cost money: it has the checks of partners, a service that answers
// them, and the gateway as their ledger and judge.
type paidRig struct {
	*rig
	service *partnerService
	deps    *check.Deps
}

func newPaidRig(t testing.TB, change ...func(*gateway.Settings)) *paidRig {
	t.Helper()
	p := &paidRig{rig: newRig(t, change...), service: newPartnerService(t)}
	checks := guardrails.NewCatalog(check.List(), partner.List())
	filter := netguard.New([]string{"127.0.0.1"})
	deps := &check.Deps{Services: &outbound.Services{Client: p.parts.Client, URLs: netguard.NewURLCache(filter), UserAgent: "sluice"}, Now: time.Now}
	p.parts.Checks = checks.Table()
	p.parts.Guardrails = guardrails.New(checks, deps, ident.System{}, guardrails.NewMetrics(), slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	p.deps = deps
	p.gateway = gateway.New(p.parts, p.set)
	p.connect()
	p.server = listen.Start(t, p.gateway)
	return p
}

// connect makes the gateway the judge and the ledger of the checks.
func (p *paidRig) connect() { p.deps.Judge, p.deps.Ledger = p.gateway.Judge(), p.gateway.CheckLedger() }

// manage is manageBatches with paid checks.
func (p *paidRig) manage() {
	p.manageBatches()
	p.connect()
}

// partnerService answers as Zscaler and Azure do. A text with "forbidden" fails. A text with "broken"
// has an error status, and one with "garbled" an answer of another form.
type partnerService struct {
	*httptest.Server
	called func() // at each call; nil for nothing

	mu    sync.Mutex // guards texts
	texts []string
}

func newPartnerService(t testing.TB) *partnerService {
	s := &partnerService{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.texts = append(s.texts, string(body))
		s.mu.Unlock()
		if s.called != nil {
			s.called()
		}
		allow, block := `{"action":"ALLOW"}`, `{"action":"BLOCK"}`
		if strings.Contains(r.URL.Path, "contentsafety") {
			allow, block = `{"categoriesAnalysis":[]}`, `{"categoriesAnalysis":[{"category":"Hate","severity":6}]}`
		}
		switch text := string(body); {
		case strings.Contains(text, "broken"):
			w.WriteHeader(http.StatusInternalServerError)
		case strings.Contains(text, "garbled"):
			_, _ = io.WriteString(w, `{"unexpected":true}`)
		case strings.Contains(text, "forbidden"):
			_, _ = io.WriteString(w, block)
		default:
			_, _ = io.WriteString(w, allow)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *partnerService) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.texts)
}

// zscaler returns a check that costs so many nano-dollars a call.
func (p *paidRig) zscaler(nano int64) string {
	return fmt.Sprintf(`{"id":"zscaler.executePolicy","parameters":{"policyId":1,"credentials":{"apiKey":"k","baseUrl":%q},"cost_per_call":%s}}`, p.service.URL, quota.Cost.Text(nano))
}

// azure is zscaler for a check that sends long texts in pieces of 10,000 characters.
func (p *paidRig) azure(nano int64) string {
	return fmt.Sprintf(`{"id":"azure.contentSafety","parameters":{"customHost":%q,"credentials":{"contentSafety":{"resourceName":"r","apiKey":"k"}},"cost_per_call":%s}}`,
		p.service.URL+"/contentsafety/text:analyze", quota.Cost.Text(nano))
}

// hooks returns members of a config with one guardrail in a phase.
func hooks(p guardrail.Phase, check, more string) string {
	return fmt.Sprintf(`"%s_request_hooks":[{"id":"g1","type":"guardrail","checks":[%s]%s}]`, hookSide[p], check, more)
}

// spent returns what a budget counts, after all entries of the ledger are closed and nothing is held.
func (p *paidRig) spent(t *testing.T, plan *quota.Plan) int64 {
	t.Helper()
	until(t, "all entries to be closed", func() bool { return len(p.open()) == 0 && p.limiter.State(time.Now(), &plan.Budgets[0]).Held == 0 })
	return p.limiter.State(time.Now(), &plan.Budgets[0]).Used
}

// open returns the ledger entries that are reserved and not closed.
func (p *paidRig) open() map[string]ledger.Entry {
	out := make(map[string]ledger.Entry)
	for _, e := range p.journal.ledger() {
		if out[e.ID] = e; e.State != ledger.Reserved {
			delete(out, e.ID)
		}
	}
	return out
}

// checkRecords returns the records of paid checks, and the others.
func (p *paidRig) checkRecords() (checks, calls []record.Attempt) {
	for _, a := range p.journal.all() {
		if a.SpanName == "guardrail check" {
			checks = append(checks, a)
		} else {
			calls = append(calls, a)
		}
	}
	return checks, calls
}

const wide = 1000 // dollars

func (p *paidRig) costBudget(dollars float64) *quota.Plan {
	return p.limited(keys.Kind, p.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, dollars)}})
}

func chatAbout(text string) string {
	return fmt.Sprintf(`{"model":"gpt-4o-mini","max_tokens":100,"messages":[{"role":"user","content":%q}]}`, text)
}

// What checks of a call cost is on the ledger, to the nano-dollar, however the call ends.
func TestPaidChecks_AreOnTheLedgerHoweverTheCallEnds(t *testing.T) {
	t.Parallel()
	const price, call = 1_234_567, 12*miniInput + 3*miniOutput
	long := strings.Repeat("harmless words ", 1700) // 25,500 characters
	for name, c := range map[string]struct {
		members    func(p *paidRig) string
		text       string
		response   string
		stream     bool
		status     int
		checks     int64 // that are booked
		calls      int   // of the provider
		unrecorded bool  // the cost is not in the record of the call
	}{
		"an input that passes":     {members: func(p *paidRig) string { return hooks(guardrail.Input, p.zscaler(price), "") }, text: "hi", status: 200, checks: 1, calls: 1},
		"an input that is denied":  {members: func(p *paidRig) string { return hooks(guardrail.Input, p.zscaler(price), `,"deny":true`) }, text: "forbidden", status: 446, checks: 1},
		"an input that fails":      {members: func(p *paidRig) string { return hooks(guardrail.Input, p.zscaler(price), "") }, text: "forbidden", status: 246, checks: 1, calls: 1},
		"an answer that passes":    {members: func(p *paidRig) string { return hooks(guardrail.Output, p.zscaler(price), "") }, text: "hi", status: 200, checks: 1, calls: 1},
		"an answer that is denied": {members: func(p *paidRig) string { return hooks(guardrail.Output, p.zscaler(price), `,"deny":true`) }, text: "hi", response: "forbidden", status: 446, checks: 1, calls: 1},
		"a stream":                 {members: func(p *paidRig) string { return hooks(guardrail.Output, p.zscaler(price), "") }, text: "hi", stream: true, status: 200, checks: 1, calls: 1},
		"a stream that is denied":  {members: func(p *paidRig) string { return hooks(guardrail.Output, p.zscaler(price), `,"deny":true`) }, text: "hi", response: "forbidden", stream: true, status: 200, checks: 1, calls: 1},
		"both directions": {members: func(p *paidRig) string {
			return hooks(guardrail.Input, p.zscaler(price), "") + "," + hooks(guardrail.Output, p.zscaler(price), "")
		}, text: "hi", status: 200, checks: 2, calls: 1},
		"pieces of a long text": {members: func(p *paidRig) string { return hooks(guardrail.Input, p.azure(price), "") }, text: long, status: 200, checks: 3, calls: 1},
		"two checks":            {members: func(p *paidRig) string { return hooks(guardrail.Input, p.azure(price)+","+p.zscaler(price), "") }, text: "hi", status: 200, checks: 2, calls: 1},
		"checks in their order": {members: func(p *paidRig) string {
			return hooks(guardrail.Input, p.azure(price)+","+p.zscaler(price), `,"sequential":true`)
		}, text: "hi", status: 200, checks: 2, calls: 1},
		"an answer of another form": {members: func(p *paidRig) string { return hooks(guardrail.Input, p.zscaler(price), "") }, text: "garbled", status: 200, checks: 1, calls: 1},
		"a service that is broken":  {members: func(p *paidRig) string { return hooks(guardrail.Input, p.zscaler(price), "") }, text: "broken", status: 200, calls: 1},
		"an asynchronous hook":      {members: func(p *paidRig) string { return hooks(guardrail.Input, p.zscaler(price), `,"async":true`) }, text: "hi", status: 200, checks: 1, calls: 1, unrecorded: true},
		"a denial before the paid hook": {members: func(p *paidRig) string {
			return `"before_request_hooks":[{"id":"g1","type":"guardrail","checks":[` + p.zscaler(price) + `]},{"id":"g2","type":"guardrail","deny":true,"checks":[` + rule + `]}]`
		}, text: "forbidden", status: 446},
		"a check that costs nothing": {members: func(p *paidRig) string { return hooks(guardrail.Input, p.zscaler(0), "") }, text: "hi", status: 200, calls: 1},
		"a text that is not there":   {members: func(p *paidRig) string { return hooks(guardrail.Input, p.zscaler(price), "") }, text: "", status: 200, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaidRig(t)
			plan := p.costBudget(wide)
			body200 := fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`, "Hi "+c.response)
			response := upstream.JSON(200, json.RawMessage(body200))
			body := chatAbout(c.text)
			if c.stream {
				body = strings.Replace(body, "{", `{"stream":true,`, 1)
				response = upstream.Stream(fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":%q},"finish_reason":"stop"}]}`+"\n\n", "Hi "+c.response),
					`data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`+"\n\n", "data: [DONE]\n\n")
			}
			p.up.Handle("/v1/chat/completions", upstream.Always(response))

			got := p.call("POST", "/v1/chat/completions", body, p.inline(c.members(p)), `x-gateway-metadata: {"_user":"ada"}`)
			if got.StatusCode != c.status || strings.Contains(got.Text, "cost_nano") {
				t.Errorf("%d %s", got.StatusCode, got.Text)
			}
			until(t, "the checks to be recorded", func() bool { rows, _ := p.checkRecords(); return c.checks == 0 || sumOf(rows) == c.checks*price })
			if used, want := p.spent(t, plan), c.checks*price+int64(c.calls)*call; used != want || p.up.Total() != c.calls {
				t.Errorf("the budget counts %d, want %d; %d calls of the provider", used, want, p.up.Total())
			}
			checks, calls := p.checkRecords()
			if len(calls) != 1 {
				t.Fatalf("%d records of the call", len(calls))
			}
			if got := hooksCost(t, &calls[0]); !c.unrecorded && got != c.checks*price {
				t.Errorf("the record shows checks for %d: %s", got, calls[0].Hooks)
			}
			for i := range checks {
				checkIsAttributed(t, &checks[i], &calls[0])
			}
		})
	}
}

// sumOf returns what records cost.
func sumOf(list []record.Attempt) (nano int64) {
	for i := range list {
		nano += list[i].Spend.Cost
	}
	return nano
}

// hooksCost returns what the checks in the record of a call cost.
func hooksCost(t testing.TB, a *record.Attempt) (nano int64) {
	t.Helper()
	if a.Hooks == "" {
		return 0
	}
	var shown map[string][]struct {
		Checks []struct {
			Cost int64 `json:"cost_nano"`
		} `json:"checks"`
	}
	if err := json.Unmarshal([]byte(a.Hooks), &shown); err != nil {
		t.Fatal(err)
	}
	for _, phase := range shown {
		for _, hook := range phase {
			for _, c := range hook.Checks {
				nano += c.Cost
			}
		}
	}
	return nano
}

// checkIsAttributed compares the record of a paid check with that of the call that it judged.
func checkIsAttributed(t testing.TB, check, call *record.Attempt) {
	t.Helper()
	type attribution struct{ org, workspace, key, user, provider, model, config, request, trace, metadata string }
	attributed := func(a *record.Attempt) attribution {
		return attribution{a.OrgID, a.WorkspaceID, a.KeyID, a.UserID, a.Provider, a.Model, a.ConfigID, a.RequestID, a.TraceID, a.Metadata[record.UserKey]}
	}
	if attributed(check) != attributed(call) || attributed(check).metadata != "ada" {
		t.Errorf("the check is attributed to %+v, the call to %+v", attributed(check), attributed(call))
	}
	s := &check.Spend
	if check.ID == call.ID || s.State != "settled" || s.Unpriced != "" || s.Cost > s.MaxCost || !strings.Contains(s.Terms, `"dimension":"guardrail_check"`) || check.Duration < 0 || check.Started.IsZero() {
		t.Errorf("the record of the check is %+v", check)
	}
}

// The entry of a check is in the journal before its service is called, at its maximum, so that a kill
// loses no cost; its record closes it once.
func TestPaidChecks_AreReservedBeforeTheServiceIsCalled(t *testing.T) {
	t.Parallel()
	const price = 2_000_000
	p := newPaidRig(t)
	plan := p.costBudget(wide)
	p.up.Handle("/v1/chat/completions", upstream.Always(chatOf(12, 3)))
	var reserved []ledger.Entry
	var held int64
	var once sync.Once
	p.service.called = func() {
		once.Do(func() { reserved, held = p.journal.ledger(), p.limiter.State(time.Now(), &plan.Budgets[0]).Held })
	}
	long := strings.Repeat("harmless words ", 1700)
	p.call("POST", "/v1/chat/completions", chatAbout(long), p.inline(hooks(guardrail.Input, p.azure(price), "")))
	if len(reserved) != 1 || reserved[0].State != ledger.Reserved || reserved[0].Amount != 3*price || held != 3*price || len(reserved[0].Charges) != 1 || reserved[0].Charges[0].Units != 3*price || !reserved[0].Charges[0].Cost {
		t.Fatalf("before the first call: held %d, %+v", held, reserved)
	}
	var closing []ledger.Entry
	for _, e := range p.journal.ledger() {
		if e.ID == reserved[0].ID && e.State.Closes() {
			closing = append(closing, e)
		}
	}
	if len(closing) != 1 || closing[0].State != ledger.Settled || closing[0].Amount != 3*price || closing[0].Charges[0].Units != 3*price {
		t.Errorf("closed by %+v", closing)
	}
}

// No service is called without a ledger entry.
func TestPaidChecks_NeedTheLedger(t *testing.T) {
	t.Parallel()
	p := newPaidRig(t)
	p.costBudget(wide)
	p.journal.refuse(io.ErrShortWrite)
	got := p.call("POST", "/v1/chat/completions", capped, p.inline(hooks(guardrail.Input, p.zscaler(5), "")))
	if got.StatusCode != 503 || p.service.calls() != 0 || p.up.Total() != 0 {
		t.Errorf("%d %s; the service was called %d times", got.StatusCode, got.Text, p.service.calls())
	}
}

// A call that its limits would reject after its checks were paid is rejected before.
func TestPaidChecks_AreNotPaidForACallThatIsRejected(t *testing.T) {
	t.Parallel()
	const price, limit = 7_000_000, 15_000_000
	maximum := maximumOfACall(t, "hi")
	policy := func(p *paidRig, nano int64) {
		var u quota.UsageLimit
		if err := json.Unmarshal(fmt.Appendf(nil, `{"name":"p","conditions":[{"key":"metadata._user","value":"ada"}],"group_by":[{"key":"metadata._user"}],"type":"cost","credit_limit":%s}`, quota.Cost.Text(nano)), &u); err != nil {
			t.Fatal(err)
		}
		p.dir.policies = &quota.Policies{Usage: []*quota.Policy{u.Compile("0191f3a0-0000-7000-8000-0000000000aa")}}
	}
	limits := map[string]func(p *paidRig, nano int64){
		"of the key": func(p *paidRig, nano int64) { p.costBudget(float64(nano) / 1e9) },
		"of the workspace": func(p *paidRig, nano int64) {
			p.limited(tenant.WorkspaceKind, workspace, quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, float64(nano)/1e9)}})
		},
		"of the user": policy,
	}
	for name, set := range limits {
		for _, short := range []int64{0, 1} {
			t.Run(fmt.Sprintf("budget %s, %d short", name, short), func(t *testing.T) {
				t.Parallel()
				p := newPaidRig(t)
				set(p, limit)
				p.up.Handle("/v1/chat/completions", upstream.Always(chatOf(12, 3)))
				members := `"before_request_hooks":[{"id":"g1","type":"guardrail","checks":[` + p.zscaler(price) + `]},{"id":"g2","type":"guardrail","checks":[` + p.azure(limit-maximum-price+short) + `]}]`
				got := p.call("POST", "/v1/chat/completions", chatAbout("hi"), p.inline(members), `x-gateway-metadata: {"_user":"ada"}`)
				if short == 0 && (got.StatusCode != 200 || p.service.calls() != 2) {
					t.Errorf("%d %s; the service was called %d times", got.StatusCode, got.Text, p.service.calls())
				}
				if short > 0 && (got.StatusCode != 412 || p.service.calls() != 0 || len(p.journal.ledger()) != 0) {
					t.Errorf("%d %s; the service was called %d times, %d ledger entries", got.StatusCode, got.Text, p.service.calls(), len(p.journal.ledger()))
				}
			})
		}
	}
}

// A budget admits exactly the calls whose checks and maximum fit, whatever they cost and whether they are
// denied.
func TestPaidChecks_BudgetsAreExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		price   int64
		denies  string // of calls in turn: "d" for denied, "p" for passed
		dollars float64
	}{
		{1_000_000, "p", 0.02}, {1_000_000, "d", 0.02}, {333_333, "pd", 0.01}, {1, "ppd", 0.001}, {9_999_999, "dddp", 0.123456789},
	} {
		t.Run(fmt.Sprintf("%d, %s of %v", c.price, c.denies, c.dollars), func(t *testing.T) {
			t.Parallel()
			p := newPaidRig(t)
			plan := p.costBudget(c.dollars)
			p.up.Handle("/v1/chat/completions", upstream.Always(chatOf(12, 100)))
			const each = 12*miniInput + 100*miniOutput
			limit, used, calls := plan.Budgets[0].Limit, int64(0), 0
			maximum := map[string]int64{"permitted": maximumOfACall(t, "permitted"), "forbidden": maximumOfACall(t, "forbidden")}
			for n := 0; ; n++ {
				text, status, cost := "permitted", 200, c.price+each
				if c.denies[n%len(c.denies)] == 'd' {
					text, status, cost = "forbidden", 446, c.price
				}
				if used+c.price+maximum[text] > limit {
					status = 412
				}
				got := p.call("POST", "/v1/chat/completions", chatAbout(text), p.inline(hooks(guardrail.Input, p.zscaler(c.price), `,"deny":true`)))
				if got.StatusCode != status {
					t.Fatalf("call %d with %d of %d used: %d %s, want %d", n, used, limit, got.StatusCode, got.Text, status)
				}
				if status == 412 {
					break
				}
				used += cost
				calls++
			}
			if got := p.spent(t, plan); got != used || p.service.calls() != calls || calls < 2 {
				t.Errorf("%d calls, %d of the service: the budget counts %d, want %d", calls, p.service.calls(), got, used)
			}
		})
	}
}

// maximumOfACall returns what a call about a text reserves at least: where a budget is tight, its input
// counts by the vocabulary of the model.
func maximumOfACall(t *testing.T, text string) int64 {
	t.Helper()
	p := newPaidRig(t)
	p.costBudget(0.00012)
	p.up.Handle("/v1/chat/completions", upstream.Always(chatOf(1, 1)))
	if got := p.call("POST", "/v1/chat/completions", chatAbout(text), p.inline("")); got.StatusCode != 200 {
		t.Fatalf("%d %s", got.StatusCode, got.Text)
	}
	return p.journal.ledger()[0].Amount
}

// Callers that pay for checks at the same time cannot spend more than their budget.
func TestPaidChecks_ConcurrentCallsStayWithinTheBudget(t *testing.T) {
	t.Parallel()
	const price = 500_000
	p := newPaidRig(t)
	plan := p.costBudget(0.02)
	p.up.Handle("/v1/chat/completions", upstream.Always(chatOf(12, 100)))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for n := range 10 {
				text := [...]string{"permitted", "forbidden"}[n%2]
				got := p.call("POST", "/v1/chat/completions", chatAbout(text), p.inline(hooks(guardrail.Input, p.zscaler(price), `,"deny":true`)))
				if !slices.Contains([]int{200, 446, 412}, got.StatusCode) {
					t.Errorf("%d %s", got.StatusCode, got.Text)
				}
			}
		})
	}
	all.Wait()
	used := p.spent(t, plan)
	if want := int64(p.service.calls())*price + int64(p.up.Total())*(12*miniInput+100*miniOutput); used != want || used > plan.Budgets[0].Limit {
		t.Errorf("the budget of %d counts %d, want %d", plan.Budgets[0].Limit, used, want)
	}
}

// A verdict that retries and fallback targets use again is paid once.
func TestPaidChecks_AreNotPaidAgainForRetriesAndFallbacks(t *testing.T) {
	t.Parallel()
	const price = 1_000_000
	for name, c := range map[string]struct {
		config func(p *paidRig) string
		calls  int // of the provider
	}{
		"a retry": {func(p *paidRig) string {
			return p.target(`"retry":{"attempts":2,"on_status_codes":[500]},` + hooks(guardrail.Input, p.zscaler(price), ""))
		}, 3},
		"a retry on a failed guardrail": {func(p *paidRig) string {
			return p.target(`"retry":{"attempts":2,"on_status_codes":[246,446,500]},` + hooks(guardrail.Input, p.zscaler(price), `,"deny":true`) + "," + `"after_request_hooks":[{"id":"g2","type":"guardrail","deny":true,"checks":[` + rule + `]}]`)
		}, 3},
		"fallback targets": {func(p *paidRig) string {
			return `{"strategy":{"mode":"fallback"},"targets":[` + p.target("") + "," + p.target("") + `],` + hooks(guardrail.Input, p.zscaler(price), "") + `}`
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaidRig(t)
			plan := p.costBudget(wide)
			p.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(500, map[string]any{"error": map[string]any{"message": "m"}})))
			p.call("POST", "/v1/chat/completions", chatAbout("hi"), "x-gateway-config: "+c.config(p))
			checks, calls := p.checkRecords()
			if used := p.spent(t, plan); used != price || p.service.calls() != 1 || len(checks) != 1 || p.up.Total() != c.calls {
				t.Errorf("the budget counts %d, %d calls of the service, %d records of checks, %d calls of the provider", used, p.service.calls(), len(checks), p.up.Total())
			}
			var shown int64
			for i := range calls {
				shown += hooksCost(t, &calls[i])
			}
			if shown != price {
				t.Errorf("the records of the call show %d", shown)
			}
		})
	}
}

// An output check that no budget can pay is an error of the check; its guardrail decides.
func TestPaidOutputChecks_FollowTheirErrorRuleIfNothingCanPayThem(t *testing.T) {
	t.Parallel()
	for more, status := range map[string]int{`,"deny":true`: 200, `,"deny":true,"failOnError":true`: 446} {
		p := newPaidRig(t)
		p.costBudget(0.001)
		p.up.Handle("/v1/chat/completions", upstream.Always(chatOf(12, 3)))
		expensive := p.zscaler(2_000_000)
		if strings.Contains(more, "failOnError") {
			expensive = strings.Replace(expensive, `"policyId"`, `"failOnError":true,"policyId"`, 1)
		}
		got := p.call("POST", "/v1/chat/completions", capped, p.inline(hooks(guardrail.Output, expensive, `,"deny":true`)))
		if got.StatusCode != status || p.service.calls() != 0 {
			t.Errorf("%s: %d %s; the service was called %d times", more, got.StatusCode, got.Text, p.service.calls())
		}
	}
}
