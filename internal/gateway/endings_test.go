package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// counting is a provider that counts what it generated, whoever waits for it.
type counting struct {
	*httptest.Server
	called chan struct{} // one for each call
	begun  chan struct{} // one for each answer of which half is out
	gate   chan struct{} // closed: answers go on
	gone   chan struct{} // one for each call that was cancelled
}

// newCounting answers with body: its head and first half after the gate where late, else before.
func newCounting(t *testing.T, body string, late bool) *counting {
	t.Helper()
	s := &counting{called: make(chan struct{}, 16), begun: make(chan struct{}, 16), gate: make(chan struct{}), gone: make(chan struct{}, 16)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		s.called <- struct{}{}
		if late && !s.passes(r) {
			return
		}
		w.Header().Set("content-type", "application/json")
		w.Header().Set("content-length", fmt.Sprint(len(body)))
		_, _ = io.WriteString(w, body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		s.begun <- struct{}{}
		if late || s.passes(r) {
			_, _ = io.WriteString(w, body[len(body)/2:])
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *counting) passes(r *http.Request) bool {
	select {
	case <-s.gate:
		return true
	case <-r.Context().Done():
		s.gone <- struct{}{}
		return false
	}
}

// leaver calls and leaves when when says so.
func (r *rig) leaver(t *testing.T, path, body string, headers []string, when <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", r.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range append([]string{"x-gateway-api-key: " + key, "content-type: application/json"}, headers...) {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	go func() { <-when; cancel() }()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	if resp, err := tr.RoundTrip(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// bufferedCall is a call for a whole answer, and what its provider answers.
type bufferedCall struct {
	name, path, body, response string
	p                          speaker
	input, output              int64
}

var bufferedCalls = func() (list []bufferedCall) {
	for name, s := range surfaces {
		for _, p := range append([]speaker{responseSpeaker}, speakers...) {
			if p.id != "openai" || name == "responses" {
				list = append(list, bufferedCall{name + " to " + p.id, s.path, s.body, p.response, p, 4, 2})
			}
		}
	}
	openai := speaker{id: "openai", base: "/v1"}
	return append(list,
		bufferedCall{"completions", "/v1/completions", `{"model":"m-1","max_tokens":64,"prompt":"Hello there"}`, `{"id":"c","object":"text_completion","model":"m-1","choices":[{"index":0,"text":"Hello","finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}}`, openai, 4, 2},
		bufferedCall{"embeddings", "/v1/embeddings", `{"model":"m-1","input":"Hello there"}`, `{"object":"list","model":"m-1","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"usage":{"prompt_tokens":4,"total_tokens":4}}`, openai, 4, 0},
	)
}()

func (s *counting) headers(p speaker, more ...string) []string {
	return append([]string{"x-gateway-provider: " + p.id, "authorization: Bearer k", "x-gateway-custom-host: " + s.URL + p.base}, more...)
}

// tokenBudget gives the key of the tests a strict budget of tokens.
func (r *rig) tokenBudget() *quota.Plan {
	return r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 1e6)}})
}

// closedAt waits until nothing is held any more and returns what the budget counts.
func (r *rig) closedAt(t *testing.T, plan *quota.Plan, records int) int64 {
	t.Helper()
	if missing := r.missingRecords(plan, records); missing != "" {
		t.Fatal(missing)
	}
	until(t, "all to end", func() bool { return r.gateway.Abandoned().Responses() == 0 && r.gateway.Open() == 0 })
	return r.limiter.State(time.Now(), &plan.Budgets[0]).Used
}

// A whole answer whose caller leaves, before its head or in its middle, is read to its end, and
// counts what its provider generated.
func TestWholeAnswerOfACallerWhoLeaves(t *testing.T) {
	t.Parallel()
	for _, c := range bufferedCalls {
		for _, late := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, before the head %t", c.name, late), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = time.Minute })
				up, plan := newCounting(t, c.response, late), r.tokenBudget()
				when := up.begun
				if late {
					when = up.called
				}
				r.leaver(t, c.path, c.body, up.headers(c.p), when)
				until(t, "the answer to be read on", func() bool { return r.gateway.Abandoned().Responses() == 1 })
				if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held == 0 {
					t.Error("nothing is held while the answer is read on")
				}
				close(up.gate)
				if used := r.closedAt(t, plan, 1); used != c.input+c.output {
					t.Errorf("counted %d of %d tokens", used, c.input+c.output)
				}
				if row := r.journal.one(t); row.Outcome != record.ClientGone || row.Spend.State != "settled" {
					t.Errorf("on record as %s, %+v", row.Outcome, row.Spend)
				}
			})
		}
	}
}

// A whole answer that comes after the time that the gateway allows is read to its end, and
// counts once beside what a further try or target comes to.
func TestWholeAnswerAfterItsTime(t *testing.T) {
	t.Parallel()
	for _, c := range bufferedCalls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = time.Minute })
			up, plan := newCounting(t, c.response, true), r.tokenBudget()
			if a := r.call("POST", c.path, c.body, up.headers(c.p, "x-gateway-request-timeout: 50")...); a.StatusCode != 408 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held == 0 {
				t.Error("nothing is held while the answer is read on")
			}
			close(up.gate)
			if used := r.closedAt(t, plan, 2); used != c.input+c.output {
				t.Errorf("counted %d of %d tokens", used, c.input+c.output)
			}
			states := map[string]int{}
			for _, row := range r.journal.all() {
				states[row.Spend.State]++
				if row.Outcome != record.Timeout {
					t.Errorf("on record as %s", row.Outcome)
				}
			}
			if states["settled"] != 1 || states["released"] != 1 {
				t.Errorf("lines %v", states)
			}
		})
	}
}

// Each try and each target that is given up for its time counts what it came to.
func TestRetriesAndFallbacksAfterATimeout(t *testing.T) {
	t.Parallel()
	c := bufferedCalls[len(bufferedCalls)-2] // completions
	target := func(up *counting) string {
		return fmt.Sprintf(`{"provider":"openai","api_key":"k","custom_host":"%s/v1","request_timeout":50}`, up.URL)
	}
	for name, config := range map[string]func(*counting) string{
		"a retry": func(up *counting) string {
			return strings.Replace(target(up), "{", `{"retry":{"attempts":1,"on_status_codes":[408]},`, 1)
		},
		"a fallback": func(up *counting) string {
			return `{"strategy":{"mode":"fallback","on_status_codes":[408]},"targets":[` + target(up) + `,` + target(up) + `]}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = time.Minute })
			up, plan := newCounting(t, c.response, true), r.tokenBudget()
			if a := r.call("POST", c.path, c.body, "x-gateway-config: "+config(up)); a.StatusCode != 408 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			until(t, "both to be read on", func() bool { return r.gateway.Abandoned().Responses() == 2 })
			close(up.gate)
			records := 3 // of the attempt, and of both calls
			if name == "a fallback" {
				records = 4
			}
			if used := r.closedAt(t, plan, records); used != 2*(c.input+c.output) {
				t.Errorf("counted %d of %d tokens", used, 2*(c.input+c.output))
			}
			open := map[string]bool{}
			for _, l := range r.journal.ledger() {
				open[l.ID] = l.State == ledger.Reserved
			}
			for id, is := range open {
				if is {
					t.Errorf("line %s is open", id)
				}
			}
		})
	}
}

// A whole answer of which nobody can say what it came to counts at its maximum, and no more than
// that was held.
func TestUnknownAnswerCountsAtItsMaximum(t *testing.T) {
	t.Parallel()
	c := bufferedCalls[len(bufferedCalls)-2]
	none := func(s *gateway.Settings) { s.AbandonedAnswers = disconnect.Limits{} }
	short := func(s *gateway.Settings) { s.AbandonedAnswers.Time = time.Millisecond }
	small := func(s *gateway.Settings) { s.AbandonedAnswers.Bytes = 10 }
	usual := func(*gateway.Settings) {}
	for _, k := range []struct {
		name    string
		set     func(*gateway.Settings)
		timeout string
		late    bool
		end     func(r *rig, up *counting)
	}{
		{"a caller leaves, none is read on", none, "", true, func(*rig, *counting) {}},
		{"a caller leaves in the middle, none is read on", none, "", false, func(*rig, *counting) {}},
		{"the time is over, none is read on", none, "50", true, func(*rig, *counting) {}},
		{"reading on takes too long", short, "", true, func(*rig, *counting) {}},
		{"reading on takes too long, after a timeout", short, "50", true, func(*rig, *counting) {}},
		{"too much is read on", small, "", false, func(_ *rig, up *counting) { close(up.gate) }},
		{"the gateway stops", usual, "", true, func(r *rig, _ *counting) { r.gateway.Abandoned().Cancel() }},
		{"the gateway stops, after a timeout", usual, "50", true, func(r *rig, _ *counting) { r.gateway.Abandoned().Cancel() }},
		{"the provider breaks off", usual, "", false, func(_ *rig, up *counting) { up.CloseClientConnections() }},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = time.Minute }, k.set)
			response := c.response
			if k.name == "too much is read on" {
				response = strings.Repeat(" ", 1<<20) + response
			}
			up, plan := newCounting(t, response, k.late), r.tokenBudget()
			records := 1
			if k.timeout != "" {
				r.call("POST", c.path, c.body, up.headers(c.p, "x-gateway-request-timeout: "+k.timeout)...)
				if r.set.AbandonedAnswers.Max > 0 {
					records = 2
				}
			} else {
				when := up.begun
				if k.late {
					when = up.called
				}
				r.leaver(t, c.path, c.body, up.headers(c.p), when)
				if k.name == "the gateway stops" || k.name == "the provider breaks off" || k.name == "too much is read on" {
					until(t, "the answer to be read on", func() bool { return r.gateway.Abandoned().Responses() == 1 })
				}
			}
			k.end(r, up)
			used := r.closedAt(t, plan, records)
			var held int64
			unknown := 0
			for _, l := range r.journal.ledger() {
				if l.State == ledger.Reserved && len(l.Charges) > 0 {
					held = max(held, l.Charges[0].Units)
				}
				if l.State == ledger.Unknown {
					unknown++
				}
			}
			if used != held || unknown != 1 {
				t.Errorf("counted %d of %d tokens, %d lines are unknown", used, held, unknown)
			}
		})
	}
}

// A stream that is cut counts what its provider reported or what came through, whichever is
// more; where the model reasons without showing it, it counts at its maximum.
func TestCutStreamCounts(t *testing.T) {
	t.Parallel()
	reported := strings.Replace(firstChunk, `"choices"`, `"usage":{"prompt_tokens":9,"completion_tokens":50,"total_tokens":59},"choices"`, 1)
	reasoning := strings.Replace(firstChunk, `"content"`, `"reasoning_content":"hm","content"`, 1)
	for _, c := range []struct {
		name, model, more, before string
		minTokens, maxTokens      int64 // tokens; 0: the maximum
	}{
		{"what came through", "gpt-4o-mini", "", firstChunk, 11, 40},
		{"what the provider reported", "gpt-4o-mini", "", reported, 59, 59},
		{"a model that hides its reasoning", "gpt-5", "", firstChunk, 0, 0},
		{"another one", "o3", "", firstChunk, 0, 0},
		{"one that hides it, told not to reason", "gpt-5.1", `"reasoning_effort":"none",`, firstChunk, 11, 40},
		{"one that shows a summary", "gpt-5", "", reasoning, 0, 0},
		{"one that cannot be switched off", "o3", `"reasoning_effort":"none",`, firstChunk, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, up := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = time.Minute }), newGated(t, c.before, "")
			plan := r.tokenBudget()
			r.visitor(t, up.URL, "/v1/chat/completions", `{"model":"`+c.model+`",`+c.more+strings.TrimPrefix(streamed, `{"model":"gpt-4o-mini",`))
			<-up.cancelled
			used := r.closedAt(t, plan, 1)
			lines := r.journal.ledger()
			held := lines[0].Charges[0].Units
			switch {
			case c.maxTokens == 0 && (used != held || lines[1].State != ledger.Unknown):
				t.Errorf("counted %d of %d, %s", used, held, lines[1].State)
			case c.maxTokens > 0 && (used < c.minTokens || used > c.maxTokens || used > held):
				t.Errorf("counted %d, want %d to %d of %d", used, c.minTokens, c.maxTokens, held)
			}
		})
	}
}

// How a model reasons, and how much of it callers see, is data of the catalog: a cut stream of
// one that may have reasoned out of sight counts at its maximum.
func TestCutStreamsByWhatModelsShow(t *testing.T) {
	t.Parallel()
	reasoning := strings.Replace(firstChunk, `"content"`, `"reasoning_content":"hm","content"`, 1)
	asks := `"thinking":{"type":"enabled","budget_tokens":1024},`
	for _, c := range []struct {
		provider, model, more, before string
		unknown                       bool
	}{
		{"deepseek", "deepseek-reasoner", "", reasoning, false},
		{"deepseek", "deepseek-reasoner", "", firstChunk, true}, // it may have reasoned before it was cut
		{"deepseek", "deepseek-chat", "", firstChunk, false},
		{"openrouter", "anthropic/claude-sonnet-4.5", "", firstChunk, false},
		{"openrouter", "anthropic/claude-sonnet-4.5", asks, firstChunk, true},
		{"openrouter", "anthropic/claude-sonnet-4.5", asks, reasoning, true},
		{"openrouter", "anthropic/claude-sonnet-4.5", `"reasoning":{"max_tokens":1024},`, reasoning, true},
		{"openrouter", "anthropic/claude-opus-5", "", firstChunk, true}, // which reasons unless it is switched off
		{"openrouter", "anthropic/claude-opus-5", `"thinking":{"type":"disabled"},`, firstChunk, false},
		{"openrouter", "anthropic/claude-opus-5.5", `"thinking":{"type":"disabled"},`, firstChunk, true}, // which cannot be
		{"openrouter", "google/gemini-3-pro-preview", `"reasoning_effort":"none",`, firstChunk, true},
		{"openrouter", "amazon/nova-2-lite-v1", `"reasoning_effort":"low",`, reasoning, true},
		{"openrouter", "openai/gpt-oss-20b", "", reasoning, false},
		{"openrouter", "x-ai/grok-4", "", reasoning, true},
	} {
		t.Run(c.model+" "+c.more+fmt.Sprint(len(c.before)), func(t *testing.T) {
			t.Parallel()
			r, up := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = time.Minute }), newGated(t, c.before, "")
			plan := r.tokenBudget()
			body := `{"model":"` + c.model + `",` + c.more + strings.TrimPrefix(streamed, `{"model":"gpt-4o-mini",`)
			r.visit(t, speaker{id: c.provider, base: "/v1"}, up.URL, "/v1/chat/completions", body)
			<-up.cancelled
			r.closedAt(t, plan, 1)
			if lines := r.journal.ledger(); (lines[1].State == ledger.Unknown) != c.unknown {
				t.Errorf("it counts as %s, %d of %d", lines[1].State, lines[1].Charges[0].Units, lines[0].Charges[0].Units)
			}
		})
	}
}
