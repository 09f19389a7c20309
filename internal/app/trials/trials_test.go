package trials_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice/internal/app/trials"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/trial"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/partner"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
)

func runner() *trials.Runner {
	return trials.New(guardrails.NewCatalog(check.List()), check.Deps{Now: time.Now}, ident.System{}, slog.New(slog.DiscardHandler))
}

// words is a guardrail that denies texts of more than two words.
func words(a guardrail.Actions) *guardrail.Saved {
	return &guardrail.Saved{Slug: "words", Checks: []guardrail.Check{{ID: "default.wordCount", Parameters: json.RawMessage(`{"maxWords":2}`)}}, Actions: a}
}

const (
	short = `{"messages":[{"role":"user","content":"Hello"}]}`
	long  = `{"messages":[{"role":"user","content":"one two three"}]}`
)

func TestATrialDecidesAsACallWould(t *testing.T) {
	t.Parallel()
	stream := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one two \"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"three\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	for _, c := range []struct {
		name    string
		actions guardrail.Actions
		phase   guardrail.Phase
		call    trial.Case
		want    trial.Outcome
	}{
		{"a request that passes", guardrail.Actions{Deny: true}, guardrail.Input, trial.Case{Endpoint: llm.ChatComplete, Request: []byte(short)}, trial.Outcome{}},
		{"a request that is denied", guardrail.Actions{Deny: true, Message: "no"}, guardrail.Input, trial.Case{Endpoint: llm.ChatComplete, Request: []byte(long)}, trial.Outcome{Denied: true, Message: "no"}},
		{"a failure", guardrail.Actions{}, guardrail.Input, trial.Case{Endpoint: llm.ChatComplete, Request: []byte(long)}, trial.Outcome{Failed: true}},
		{"an asynchronous guardrail", guardrail.Actions{Deny: true, Async: true}, guardrail.Input, trial.Case{Endpoint: llm.ChatComplete, Request: []byte(long)}, trial.Outcome{Failed: true}},
		{"a stream", guardrail.Actions{Deny: true}, guardrail.Output, trial.Case{Endpoint: llm.ChatComplete, Response: []byte(stream), Stream: true}, trial.Outcome{Denied: true}},
		{"a call that is passed through", guardrail.Actions{Deny: true}, guardrail.Input, trial.Case{Endpoint: llm.Proxy, Path: "/v1/x/chat/completions", Request: []byte(long)}, trial.Outcome{Denied: true}},
		{"an unknown format", guardrail.Actions{Deny: true}, guardrail.Input, trial.Case{Endpoint: llm.Proxy, Path: "/v1/x", Request: []byte(long)}, trial.Outcome{Unread: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := runner().Prepare(words(c.actions), c.phase, true)(t.Context(), &c.call)
			if err != nil {
				t.Fatal(err)
			}
			if got.Denied != c.want.Denied || got.Failed != c.want.Failed || got.Unread != c.want.Unread || got.Message != c.want.Message {
				t.Errorf("got %+v", got)
			}
			var shown struct{ Type string }
			if json.Unmarshal(got.Result, &shown) != nil || shown.Type != "guardrail" {
				t.Errorf("got %s", got.Result)
			}
		})
	}
}

func TestATrialMakesNoModelCall(t *testing.T) {
	t.Parallel()
	g := &guardrail.Saved{Slug: "kind", Checks: []guardrail.Check{{ID: "gateway.llmJudge", Parameters: json.RawMessage(`{"model":"m","rubric":"r"}`)}}}
	got, err := runner().Prepare(g, guardrail.Input, false)(t.Context(), &trial.Case{Endpoint: llm.ChatComplete, Request: []byte(short)})
	if err != nil || len(got.Checks) != 1 || !got.Checks[0].Errored {
		t.Errorf("got %+v, %v", got, err)
	}
}

// service is a partner that allows every text.
type service struct{}

func (service) Call(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
	return &check.ServiceResponse{Status: 200, Body: []byte(`{"action":"ALLOW"}`)}, nil
}

// A trial has no caller who pays: the ledger is not used, and the result shows the cost.
func TestATrialShowsWhatItsChecksCost(t *testing.T) {
	t.Parallel()
	deps := check.Deps{Services: service{}, Ledger: noLedger{t}, Now: time.Now}
	r := trials.New(guardrails.NewCatalog(partner.List()), deps, ident.System{}, slog.New(slog.DiscardHandler))
	g := &guardrail.Saved{Slug: "paid", Checks: []guardrail.Check{{ID: "zscaler.executePolicy", Parameters: json.RawMessage(`{"policyId":1,"credentials":{"apiKey":"k"},"cost_per_call":0.002}`)}}}
	got, err := r.Prepare(g, guardrail.Input, false)(t.Context(), &trial.Case{Endpoint: llm.ChatComplete, Request: []byte(short)})
	if err != nil || !strings.Contains(string(got.Result), `"cost_nano":2000000`) {
		t.Errorf("got %s, %v", got.Result, err)
	}
}

// noLedger is a ledger that must not be used.
type noLedger struct{ *testing.T }

func (n noLedger) Reserve(context.Context, *check.Price) (settle func(calls int), err error) {
	n.Error("the ledger was used")
	return nil, errors.New("no caller")
}

func TestATrialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := runner().Prepare(words(guardrail.Actions{}), guardrail.Input, false)(ctx, &trial.Case{Endpoint: llm.ChatComplete, Request: []byte(short)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestGuardrailsApplyToCallsWithText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		endpoint llm.Endpoint
		path     string
		phase    guardrail.Phase
		want     bool
	}{
		{llm.ChatComplete, "/v1/chat/completions", guardrail.Input, true},
		{llm.ChatComplete, "/v1/chat/completions", guardrail.Output, true},
		{llm.Embed, "/v1/embeddings", guardrail.Input, true},
		{llm.Embed, "/v1/embeddings", guardrail.Output, false},
		{llm.Proxy, "/v1/embed", guardrail.Output, false},
		{llm.UploadFile, "/v1/files", guardrail.Input, false},
	} {
		if got := runner().Applies(c.endpoint, c.path, c.phase); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
