// Package trials runs guardrails outside of calls, for the tests and dry runs of the administration.
// It connects the values of the package trial to the engine of the gateway. It makes no calls to
// models: the check gateway.llmJudge ends with an error here. Start reading at Runner.
package trials

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/trial"
	"sluice/internal/gateway"
	"sluice/internal/gateway/cache/replay"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
)

// maxStreamBytes limits the response that is assembled from a stream.
const maxStreamBytes = 16 << 20

// Runner runs guardrails. It is safe for concurrent use.
type Runner struct{ engine *guardrails.Engine }

// New returns a runner for the checks of a catalog. Its runs do not count in the metrics of calls.
func New(c *guardrails.Catalog, d check.Deps, clock ident.Clock, log *slog.Logger) *Runner {
	d.Judge = nil  // a model call needs a caller whose budget pays for it
	d.Ledger = nil // a trial has no caller: what its checks cost is shown, and no budget counts it
	return &Runner{guardrails.New(c, &d, clock, guardrails.NewMetrics(), log)}
}

// Applies reports whether guardrails run on a phase of the calls of an endpoint.
func (r *Runner) Applies(ep llm.Endpoint, path string, p guardrail.Phase) bool {
	return gateway.Judged(ep) && (p == guardrail.Input || gateway.AnswersText(ep, path))
}

// Prepare compiles a phase of a guardrail. With enforced it fails as a default of a workspace or
// organisation does.
func (r *Runner) Prepare(g *guardrail.Saved, p guardrail.Phase, enforced bool) trial.Judge {
	hooks := []*guardrails.Hook{r.engine.Trial(g, p, enforced)}
	return func(ctx context.Context, c *trial.Case) (*trial.Outcome, error) {
		body, status := judgedBody(c, p)
		out, err := r.engine.Run(ctx, hooks, callOf(c), p, status, body)
		if err != nil {
			return nil, err
		}
		return outcomeOf(out)
	}
}

// judgedBody returns the body that a phase judges, and the status of the response.
func judgedBody(c *trial.Case, p guardrail.Phase) (body []byte, status int) {
	switch {
	case p == guardrail.Input:
		return c.Request, 0
	case c.Stream:
		return replay.Assemble(c.Endpoint, c.Response, maxStreamBytes).Body, 200
	}
	return c.Response, 200
}

// callOf describes a case as the call that it could be. It may be unreadable: that is counted, and
// never a denial.
func callOf(c *trial.Case) *guardrails.Call {
	return &guardrails.Call{
		Endpoint: c.Endpoint, Shape: gateway.BodyShape(c.Endpoint, c.Path), Provider: c.Provider, Model: c.Model, Metadata: c.Metadata,
		TraceID: c.TraceID, Streaming: c.Stream, Request: c.Request, PassUnreadable: true,
	}
}

func outcomeOf(out *guardrails.Outcome) (*trial.Outcome, error) {
	t := &trial.Outcome{Denied: out.Denied, Failed: out.Failed, Message: out.Message, Body: out.Body}
	if len(out.Results) == 0 {
		return t, nil
	}
	r := &out.Results[0]
	t.Unread = r.Skipped
	for i := range r.Checks {
		c := &r.Checks[i]
		t.Checks = append(t.Checks, trial.Check{ID: c.ID, Verdict: c.Verdict, Errored: c.Error != nil, Transformed: c.Transformed})
	}
	var err error
	if t.Result, err = json.Marshal(r); err != nil {
		return nil, fmt.Errorf("encode the result of guardrail %s: %w", r.ID, err)
	}
	return t, nil
}
