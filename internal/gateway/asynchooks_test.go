package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/record"
	"sluice/internal/test/upstream"
)

// asyncResult is the recorded result of an asynchronous hook.
type asyncResult struct {
	hookResult
	Reason string `json:"skip_reason"`
}

// joined returns an attempt with the results that came after its record, as the log returns it.
func (l *list) joined(row *record.Attempt) record.Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := *row
	for i := range l.late {
		if h := &l.late[i]; h.ID == row.ID && h.OrgID == row.OrgID && h.Started.Equal(row.Started) {
			out.AddHooks(h.Hooks)
		}
	}
	return out
}

// asyncResults waits until the log of the only call has n results of asynchronous hooks, and returns
// them in the order of their phases, with the log.
func (r *rig) asyncResults(n int) (out []asyncResult, row record.Attempt) {
	r.t.Helper()
	stored := r.journal.one(r.t)
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		row, out = r.journal.joined(&stored), nil
		var all struct {
			Before []asyncResult `json:"before_request_hooks"`
			After  []asyncResult `json:"after_request_hooks"`
		}
		if row.Hooks != "" {
			if err := json.Unmarshal([]byte(row.Hooks), &all); err != nil {
				r.t.Fatal(err)
			}
		}
		for _, h := range append(all.Before, all.After...) {
			if h.Async {
				out = append(out, h)
			}
		}
		if len(out) == n {
			return out, row
		}
		if len(out) > n || time.Now().After(limit) {
			r.t.Fatalf("%d results of asynchronous hooks, want %d: %s", len(out), n, row.Hooks)
		}
	}
}

const asyncFeedback = `"on_fail":{"feedback":{"value":-5,"weight":1}}`

// The results of asynchronous hooks of both phases are in the log of the call, in full and marked, with
// the version of the guardrail, in every surface and for streams too. The client sees nothing of them.
// Their feedback is on the trace.
func TestAsyncHooks_AreInTheLogOfTheCall(t *testing.T) {
	t.Parallel()
	hooks := `"input_guardrails":[{"id":"in","async":true,` + asyncFeedback + `,"contains":{"words":["Hi"],"operator":"none"}}],"output_guardrails":["saved"]`
	judged := func(t *testing.T, r *rig, path, request string, headers []string) {
		t.Parallel()
		feedback := new(ratings)
		r.gateway.Feedback = feedback
		r.gateway.Reassemble()
		r.save("saved", `{"id":"default.contains","parameters":{"words":["`+planted+`"],"operator":"none"}}`, guardrail.Actions{Async: true, OnFail: guardrail.Reaction{Feedback: guardrail.Feedback{Value: -5, Weight: 1}}})
		a := r.call("POST", path, request, append(headers, `x-gateway-config: {`+hooks+`}`, "x-gateway-trace-id: trace-1", "x-gateway-strict-open-ai-compliance: false")...)
		if a.StatusCode != 200 || strings.Contains(a.Text, "hook_results") || !strings.Contains(a.Text, "FORB") {
			t.Errorf("%d %s", a.StatusCode, a.Text)
		}
		results, row := r.asyncResults(2)
		if row.Status != 200 || row.Outcome != record.OK {
			t.Errorf("record %d %s", row.Status, row.Outcome)
		}
		for i, want := range []hookResult{{ID: "in"}, {ID: "saved", VersionID: "version of saved"}} {
			if h := results[i]; h.ID != want.ID || h.VersionID != want.VersionID || h.Verdict || h.Deny || h.Transformed || len(h.Checks) != 1 || !strings.HasPrefix(string(h.Checks[0].Data), "{") {
				t.Errorf("result %d: %+v", i, h)
			}
		}
		if len(feedback.all()) != 2 {
			t.Errorf("feedback %q, want that of both", feedback.all())
		}
	}
	for _, s := range textSurfaces {
		t.Run(s.path, func(t *testing.T) {
			r := newRig(t)
			r.up.Handle(s.path, upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(s.response, before+planted+after)))))
			judged(t, r, s.path, fmt.Sprintf(s.request, "Hi"), r.custom())
		})
	}
	for _, p := range streamingProviders {
		for _, s := range streamingSurfaces {
			t.Run("stream of "+p.name+s.path, func(t *testing.T) {
				r := newRig(t)
				r.up.Handle(p.upstreamPath(s.path), upstream.Always(p.eventsFor(s.path, []string{before + "sk-FORB", "IDDEN-QUXZ" + after})))
				judged(t, r, s.path, fmt.Sprintf(s.request, p.model), p.headers(r))
			})
		}
	}
}

// A hook that outlasts its call is recorded after it, and the call does not wait for it.
func TestAsyncHooks_DoNotDelayTheirCall(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"input", "output"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			r, release := newRig(t), make(chan struct{})
			r.up.Handle("/hook", func(upstream.Seen) *upstream.Response {
				<-release
				response := upstream.JSON(200, []byte(`{"verdict":false,"data":{"why":"late"}}`))
				return &response
			})
			a := r.call("POST", "/v1/chat/completions", hello, r.inline(`"`+phase+`_guardrails":[{"id":"slow","async":true,"webhook":{"webhookURL":"`+r.up.URL()+`/hook","timeout":20000}}]`))
			if stored := r.journal.one(t); a.StatusCode != 200 || stored.Hooks != "" {
				t.Errorf("%d, and the record already has hooks %s", a.StatusCode, stored.Hooks)
			}
			close(release)
			if results, _ := r.asyncResults(1); results[0].ID != "slow" || results[0].Verdict {
				t.Errorf("%+v", results)
			}
			r.journal.mu.Lock()
			defer r.journal.mu.Unlock()
			if h := r.journal.late[0]; h.Entry == "" || h.TraceID == "" || h.Number != 0 {
				t.Errorf("entry %+v", h)
			}
		})
	}
}

// At shutdown, a hook that does not finish in time ends, and the log of its call shows it.
func TestAsyncHooks_AreSkippedWhenTheGatewayStops(t *testing.T) {
	t.Parallel()
	r, requested, release := newRig(t), make(chan struct{}), make(chan struct{})
	defer close(release)
	r.up.Handle("/hook", func(upstream.Seen) *upstream.Response {
		close(requested)
		<-release
		return nil
	})
	r.call("POST", "/v1/chat/completions", hello, r.inline(`"input_guardrails":[{"id":"slow","async":true,"webhook":{"webhookURL":"`+r.up.URL()+`/hook","timeout":20000}}]`))
	<-requested
	ended, stop := context.WithCancel(t.Context())
	stop()
	r.gateway.FinishAsyncHooks(ended)
	results, _ := r.asyncResults(1)
	if h := results[0]; h.ID != "slow" || !h.Skipped || !strings.Contains(h.Reason, "stopped") || !h.Verdict {
		t.Errorf("%+v", h)
	}
	if n := testutil.ToFloat64(r.metric("sluice_guardrail_async_skipped_total")); n != 1 {
		t.Errorf("%v skipped are counted, want 1", n)
	}
}

// A streamed answer that is longer than the gateway keeps is delivered whole, and its asynchronous hooks
// are recorded as skipped.
func TestAsyncHooks_SkipAnswersThatAreTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	part := strings.Repeat("word ", 1<<18)
	r.up.Handle("/v1/chat/completions", upstream.Always(streamingProviders[0].events([]string{part, part, part, part, part, part, part, part, part, part, part, part, part, part})))
	a := r.call("POST", "/v1/chat/completions", fmt.Sprintf(streamingSurfaces[0].request, "gpt-4o-mini"), r.inline(`"output_guardrails":[{"id":"long","async":true,`+shorthandRule+`}]`))
	if len(a.Text) < 14*len(part) || !strings.HasSuffix(a.Text, "data: [DONE]\n\n") {
		t.Errorf("%d bytes arrived", len(a.Text))
	}
	results, _ := r.asyncResults(1)
	if h := results[0]; h.ID != "long" || !h.Skipped || !strings.Contains(h.Reason, "longer") {
		t.Errorf("%+v", h)
	}
}

// The results of asynchronous hooks quote nothing that another hook redacted, and without recorded
// bodies no text at all.
func TestAsyncHooks_QuoteNoRedactedText(t *testing.T) {
	t.Parallel()
	const hooks = `{"id":"mask","regexReplace":{"rule":"/(ann|bob)@[a-z.]+/g"}},{"id":"watch","async":true,"regexMatch":{"rule":"[a-z]+@?[a-z.]*","not":true}}`
	for name, c := range map[string]struct {
		request  string
		response upstream.Response
	}{
		"body":   {fmt.Sprintf(textSurfaces[0].request, "I am ann@example.com"), chatResponse("bob@example.com is here")},
		"stream": {`{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"I am ann@example.com"}]}`, streamingProviders[0].events([]string{"bob@exa", "mple.com is here"})},
	} {
		for _, debug := range []string{"true", "false"} {
			t.Run(name+", debug "+debug, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.up.Handle("/v1/chat/completions", upstream.Always(c.response))
				r.call("POST", "/v1/chat/completions", c.request, r.inline(`"input_guardrails":[`+hooks+`],"output_guardrails":[`+hooks+`]`), "x-gateway-debug: "+debug)
				results, row := r.asyncResults(2)
				if strings.Contains(row.Hooks, "ann@") || strings.Contains(row.Hooks, "bob@") || results[0].Verdict || results[1].Verdict {
					t.Errorf("hooks %s", row.Hooks)
				}
				if quotes := strings.Contains(row.Hooks, "matchDetails"); quotes != (debug == "true") {
					t.Errorf("quotes the text: %v; hooks %s", quotes, row.Hooks)
				}
			})
		}
	}
}

// metric returns a metric of the gateway.
func (r *rig) metric(name string) prometheus.Collector {
	for _, c := range r.metrics.Collectors() {
		described := make(chan *prometheus.Desc, 8)
		c.Describe(described)
		if strings.Contains((<-described).String(), `"`+name+`"`) {
			return c
		}
	}
	r.t.Fatalf("no metric %s", name)
	return nil
}
