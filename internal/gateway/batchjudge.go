package gateway

import (
	"bytes"
	"context"

	"sluice/internal/domain/batch"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/managedbatch"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// batchJudge runs the guardrails of calls that a provider runs as lines of its batch. A line is judged as
// the call that it is. It implements managedbatch.Judge.
type batchJudge struct {
	*batchCalls
	admission  *admission
	bodies     *bodyReader
	configs    *configSelector
	walker     *walker
	guardrails *guardrailStep
}

// JudgeRequest implements managedbatch.Judge.
func (j *batchJudge) JudgeRequest(ctx context.Context, c *managedbatch.Call) (*managedbatch.Judgement, error) {
	return j.judge(ctx, c, func(a *attempt) ([]byte, error) {
		if err := j.guardrails.judgeRequest(ctx, a); err != nil || a.x.doc == nil {
			return nil, err
		}
		return j.guardrails.shaper.withParams(a), nil // the caller's own text if nothing changes it
	})
}

// JudgeResponse implements managedbatch.Judge.
func (j *batchJudge) JudgeResponse(ctx context.Context, c *managedbatch.Call, body []byte) (*managedbatch.Judgement, error) {
	return j.judge(ctx, c, func(a *attempt) ([]byte, error) {
		if j.guardrails.engine == nil {
			return nil, nil
		}
		if a.hooks = j.guardrails.sets.find(j.guardrails.engine, a); a.hooks.Empty() || len(a.hooks.After) == 0 {
			return nil, nil
		}
		a.status, a.response.header, a.response.body = 200, wire.Header{{Name: "content-type", Value: "application/json"}}, body
		if err := j.guardrails.judgeResponse(ctx, a); err != nil {
			return nil, err
		}
		return a.response.body, nil
	})
}

// judge prepares the attempt that a call would make, and runs hooks on it. Errors of the call itself are
// denials: the line gets the error that its call would get.
func (j *batchJudge) judge(ctx context.Context, c *managedbatch.Call, run func(a *attempt) ([]byte, error)) (*managedbatch.Judgement, error) {
	x := j.exchange(c, &collected{})
	j.open.Add(-1) // a draining gateway does not wait for it
	defer func() {
		x.close()
		x.scratch.release()
	}()
	got := &managedbatch.Judgement{}
	err := j.admission.identify(x)
	if err != nil {
		return nil, managedbatch.ErrKey
	}
	for _, step := range [...]func(x *exchange) error{j.bodies.readBody, j.configs.chooseConfig} {
		if err := step(x); err != nil {
			return denial(x, err), nil
		}
	}
	visit := func(ctx context.Context, t *routing.Target) routing.Outcome {
		var body []byte
		body, err = j.atTarget(ctx, x, t, run)
		got.Body = bytes.Clone(body)
		return routing.Outcome{Status: 200, Final: true}
	}
	if _, walkErr := j.walker.engine.Walk(ctx, x.config, "batch judge", conditionInputs{x}, visit); walkErr != nil {
		err = walkErr
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return denial(x, err), nil
	}
	return got, nil
}

// atTarget runs hooks on the attempt at a target.
func (j *batchJudge) atTarget(ctx context.Context, x *exchange, t *routing.Target, run func(a *attempt) ([]byte, error)) ([]byte, error) {
	a := &x.scratch.attempt
	a.reset()
	a.x, a.target, a.started, x.last, x.attempts = x, t, j.clock.Now(), a, 1
	a.strict = x.ctl.Strict != "false" && (t.Strict == nil || *t.Strict)
	if err := j.walker.credentials.resolve(ctx, a); err != nil {
		return nil, err
	}
	return run(a)
}

// denial returns the response that a call with an error would get.
func denial(x *exchange, err error) *managedbatch.Judgement {
	f := fault.From(err)
	return &managedbatch.Judgement{Denial: &batch.Response{Status: f.HTTPStatus(), RequestID: x.id, Body: bytes.Clone(x.errorBody(f))}}
}
