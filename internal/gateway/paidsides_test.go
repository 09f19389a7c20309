package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/test/upstream"
)

// llmJudge is a check that a model of the saved provider "judge" decides.
const llmJudge = `{"id":"gateway.llmJudge","parameters":{"model":"@judge/gpt-4o-mini","rubric":"no forbidden words"}}`

// judged lets the upstream answer as a judge: it rejects texts with "forbidden".
func (p *paidRig) judged() {
	p.saved("judge", "openai", "/v1")
	p.up.Handle("/v1/chat/completions", func(s upstream.Seen) *upstream.Response {
		verdict := `{\"pass\":true,\"reason\":\"fine\"}`
		if strings.Contains(string(s.Body), "is forbidden") {
			verdict = `{\"pass\":false,\"reason\":\"a forbidden word\"}`
		}
		a := upstream.JSON(200, []byte(`{"id":"c","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"`+verdict+`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`))
		return &a
	})
	p.up.Handle("/v1/files", upstream.Always(upstream.JSON(200, []byte(`{"id":"file-1","object":"file"}`))))
}

// defaults makes a check an input guardrail of the organisation that denies.
func (p *paidRig) defaults(check string) {
	p.save("g1", check, guardrail.Actions{Deny: true})
	p.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
}

// The lines of a batch for a provider are judged by checks that cost money, which the uploader pays.
func TestPaidChecks_JudgeTheLinesOfABatch(t *testing.T) {
	t.Parallel()
	const price, judgement = 1_000_000, 12*miniInput + 3*miniOutput
	for name, c := range map[string]struct {
		check  func(p *paidRig) string
		last   string
		budget float64
		status int
		cost   int64
	}{
		"a model as a judge":            {func(*paidRig) string { return llmJudge }, "harmless", wide, 200, 3 * judgement},
		"a model that rejects a line":   {func(*paidRig) string { return llmJudge }, "this is forbidden", wide, 446, 3 * judgement},
		"a service":                     {func(p *paidRig) string { return p.zscaler(price) }, "harmless", wide, 200, 3 * price},
		"a service that rejects a line": {func(p *paidRig) string { return p.zscaler(price) }, "this is forbidden", wide, 446, 3 * price},
		"a budget that is too small":    {func(p *paidRig) string { return p.zscaler(price) }, "harmless", 0.002, 412, 2 * price},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaidRig(t)
			plan := p.costBudget(c.budget)
			p.judged()
			p.defaults(c.check(p))
			got := p.uploadLines(batchLine("a", "one")+batchLine("b", "two")+batchLine("c", c.last), p.custom()[0], p.custom()[2])
			if got.StatusCode != c.status {
				t.Errorf("%d %s", got.StatusCode, got.Text)
			}
			if used := p.spent(t, plan); used != c.cost {
				t.Errorf("the budget counts %d, want %d", used, c.cost)
			}
		})
	}
}

// A line whose text was judged at one target is not paid again at the next.
func TestPaidChecks_OfABatchAreNotPaidAgainAtAFallbackTarget(t *testing.T) {
	t.Parallel()
	const price = 1_000_000
	p := newPaidRig(t)
	plan := p.costBudget(wide)
	p.up.Handle("/v1/files", upstream.Always(upstream.OpenAIError(500, "server_error", "", "m")))
	p.defaults(p.zscaler(price))
	p.uploadLines(batchLine("a", "one")+batchLine("b", "two"), `x-gateway-config: {"strategy":{"mode":"fallback"},"targets":[`+p.target("")+","+p.target("")+`]}`)
	if used := p.spent(t, plan); used != 2*price || p.up.Total() != 2 {
		t.Errorf("the budget counts %d; %d uploads", used, p.up.Total())
	}
}

// The calls of a batch that the gateway manages pay for their checks, whoever runs them.
func TestPaidChecks_OfAManagedBatchArePaidByItsCalls(t *testing.T) {
	t.Parallel()
	const price, call = 1_000_000, 12*miniInput + 3*miniOutput
	p := newPaidRig(t)
	p.manage()
	plan := p.costBudget(wide)
	p.up.Handle("/v1/chat/completions", upstream.Always(chatOf(12, 3)))
	p.defaults(p.zscaler(price))
	b := p.runBatch("immediate", batchLine("a", "one")+batchLine("b", "this is forbidden"), p.options(nil))
	if b.Counts.Completed != 1 || b.Counts.Failed != 1 {
		t.Errorf("%+v", b)
	}
	if used := p.spent(t, plan); used != 2*price+call {
		t.Errorf("the budget counts %d, want %d", used, 2*price+call)
	}
}

// realtimeMaximum is what a response of gpt-realtime reserves.
func realtimeMaximum(t *testing.T) int64 {
	t.Helper()
	p := newPaidRig(t)
	p.costBudget(wide)
	p.exchangeEvents(t, newRealtimeUpstream(t, created, done), "", asking)
	return p.journal.ledger()[0].Amount
}

// The text of a conversation pays for its checks, each time before it is sent.
func TestPaidChecks_OfAConversationAreBooked(t *testing.T) {
	t.Parallel()
	const price = 1_000_000
	p := newPaidRig(t)
	plan := p.costBudget(wide)
	up := newRealtimeUpstream(t, created, `{"type":"response.output_item.done","response_id":"r","item":{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"an answer"}]}}`, done)
	members := "," + hooks(guardrail.Input, p.zscaler(price), `,"deny":true`) + "," + hooks(guardrail.Output, p.zscaler(price), `,"deny":true`)
	p.exchangeEvents(t, up, members, fmt.Sprintf(clientTexts["text of the user"], "hello"), fmt.Sprintf(clientTexts["text of the user"], "forbidden"), asking)
	if used, want := p.spent(t, plan), int64(3*price+doneCost); used != want || p.service.calls() != 3 {
		t.Errorf("the budget counts %d, want %d; %d calls of the service", used, want, p.service.calls())
	}
	until(t, "the conversation to be recorded", func() bool { _, calls := p.checkRecords(); return len(calls) == 1 })
	checks, calls := p.checkRecords()
	if len(checks) != 3 || hooksCost(t, &calls[0]) != 3*price || calls[0].Spend.Cost != doneCost {
		t.Errorf("%d records of checks; the record of the conversation costs %d and has %s", len(checks), calls[0].Spend.Cost, calls[0].Hooks)
	}
}

// A text of a conversation whose next response its limits would reject is rejected before its checks are
// paid. A response that runs has its reservation: texts that are sent meanwhile need no other.
func TestPaidChecks_OfAConversationAreNotPaidIfTheNextResponseIsRejected(t *testing.T) {
	t.Parallel()
	maximum := realtimeMaximum(t)
	const micro = 1000 // nano-dollars: budgets are exact to it
	price := 50*micro - maximum%micro
	for name, c := range map[string]struct {
		left   int64 // of the budget
		events []string
		calls  int
		closed bool
	}{
		"it fits":                  {maximum + price, nil, 1, false},
		"it does not fit":          {maximum + price - micro, nil, 0, true},
		"while a response runs":    {maximum + price, []string{asking}, 1, false},
		"two texts, one of which":  {maximum + price, []string{fmt.Sprintf(clientTexts["text of the user"], "one")}, 1, true},
		"nothing of it is left":    {micro, nil, 0, true},
		"while a response runs on": {maximum, []string{asking}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaidRig(t)
			plan := p.costBudget(float64(c.left) / 1e9)
			up := newRealtimeUpstream(t, created) // the response does not end
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			config := `{"provider":"openai","custom_host":"` + up.url + `/v1","api_key":"k",` + hooks(guardrail.Input, p.zscaler(price), `,"deny":true`) + `}`
			s, _, err := p.socketTo(ctx, up.url, "/v1/realtime?model=gpt-realtime", "X-Gateway-Config: "+config)
			if err != nil {
				t.Fatal(err)
			}
			defer s.CloseNow()
			var got string
			for _, e := range append(c.events, fmt.Sprintf(clientTexts["text of the user"], "hello"), ping) {
				if err := s.Write(ctx, websocket.MessageText, []byte(e)); err != nil && !c.closed {
					t.Fatal(err)
				}
			}
			for err == nil && !strings.Contains(got, pong) {
				var b []byte
				_, b, err = s.Read(ctx)
				got += string(b)
			}
			if closed := websocket.CloseStatus(err) == 1008; closed != c.closed || c.closed != strings.Contains(got, "exhaust_error") {
				t.Errorf("closed %v: %v, received %s", closed, err, got)
			}
			_ = s.Close(websocket.StatusNormalClosure, "")
			if p.service.calls() != c.calls {
				t.Errorf("the service was called %d times", p.service.calls())
			}
			if used := p.spent(t, plan); used < int64(c.calls)*price || used > plan.Budgets[0].Limit {
				t.Errorf("the budget of %d counts %d", plan.Budgets[0].Limit, used)
			}
		})
	}
}

// A model of the organisation judges calls through the gateway, at the cost of their caller.
func TestPaidChecks_AModelJudgesCalls(t *testing.T) {
	t.Parallel()
	const judgement, call = 12*miniInput + 3*miniOutput, 12*miniInput + 3*miniOutput
	for text, want := range map[string]struct {
		status int
		cost   int64
	}{"harmless": {200, judgement + call}, "this is forbidden": {446, judgement}} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			p := newPaidRig(t)
			plan := p.costBudget(wide)
			p.judged()
			got := p.call("POST", "/v1/chat/completions", chatAbout(text), p.inline(hooks(guardrail.Input, llmJudge, `,"deny":true`)))
			if got.StatusCode != want.status {
				t.Errorf("%d %s", got.StatusCode, got.Text)
			}
			if used := p.spent(t, plan); used != want.cost {
				t.Errorf("the budget counts %d, want %d", used, want.cost)
			}
			for _, a := range p.journal.all() {
				if cost := hooksCost(t, &a); a.SpanName == "" && cost != judgement {
					t.Errorf("the record of the call shows %d", cost)
				}
			}
		})
	}
}
