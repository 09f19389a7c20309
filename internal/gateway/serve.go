package gateway

import (
	"context"
	"fmt"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Serve handles one client request. The first step that fails ends it, and respond sends the
// result. finishRequest always runs last. Every attempt with a response is recorded before the
// client receives the end of the response.
//
// The error is for the HTTP server only: the client has disconnected, or the response was cut. In
// both cases the connection must not be reused.
func (g *Gateway) Serve(ctx context.Context, req *wire.Request, out wire.Responder) error {
	return g.serve(ctx, g.exchanges.newExchange(req, out))
}

func (g *Gateway) serve(ctx context.Context, x *exchange) (err error) {
	defer func() { err = g.finishRequest(ctx, x, recover(), err) }()
	for _, step := range [...]func(context.Context, *exchange) error{g.admission.admit, g.intake, g.walker.walk} {
		if err = step(ctx, x); err != nil {
			break
		}
	}
	return g.responder.respond(ctx, x, g.checkDeferred(ctx, x, err))
}

// admit identifies the caller and checks its permissions and limits, before the body is read.
func (ad *admission) admit(ctx context.Context, x *exchange) error {
	if err := ad.identify(x); err != nil {
		return err
	}
	if err := checkMethod(x.req.Method); err != nil {
		return err
	}
	if err := checkLoop(x.req.Header); err != nil {
		return err
	}
	if err := ad.limitCaller(ctx, x); err != nil {
		return err
	}
	return authorise(x)
}

// intake determines the endpoint and the routing of a request. It decodes the body only as far as
// needed.
func (g *Gateway) intake(_ context.Context, x *exchange) error {
	if err := g.bodies.readBody(x); err != nil {
		return err
	}
	if err := x.readQuery(); err != nil {
		return err
	}
	if x.match.Endpoint == llm.Proxy {
		x.accountInPath()
	}
	if g.States.Serves(x.match) || g.batches.servesID(x) {
		return nil // it does not need a target
	}
	if x.match.Endpoint == llm.RunPrompt {
		if err := g.prompts.openPrompt(x); err != nil {
			return err
		}
	}
	if err := g.configs.chooseConfig(x); err != nil {
		return err
	}
	if err := checkLocked(x); err != nil {
		return err
	}
	return checkUnread(x)
}

// try makes one attempt at one target; the walk calls it. It runs all steps from the client's
// call to a received response. It relays a stream to its end, because a failed stream may
// continue at the next target. A response of the gateway itself is complete once the call is
// shaped, and one of the response cache once it is found.
func (w *walker) try(ctx context.Context, a *attempt) (err error) {
	defer func() { w.recorder.finish(a, err) }()
	for _, step := range [...]func(context.Context, *attempt) error{w.prepare, w.shaper.shape, w.cache.lookup} {
		if err = step(ctx, a); err != nil || a.estimated {
			return err
		}
	}
	if a.hit != nil {
		err = w.cache.serve(ctx, a)
	} else {
		err = w.callProvider(a.callContext(ctx), a)
	}
	if err != nil {
		return err
	}
	if err = w.guardrails.restoreResponse(ctx, a); err != nil {
		return err
	}
	return w.deliverer.stream(ctx, a)
}

// callProvider sends the call of an attempt, and judges and stores the response.
func (w *walker) callProvider(ctx context.Context, a *attempt) error {
	for _, step := range [...]func(context.Context, *attempt) error{w.accountant.reserve, w.sender.send, w.receiver.receive, w.guardrails.judgeResponse, w.cache.capture, w.guardrails.addResults} {
		if err := step(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// prepare resolves the target of an attempt and judges its request. A repeated attempt has the request
// of the one before it.
func (w *walker) prepare(ctx context.Context, a *attempt) error {
	if a.repeated {
		a.judgement = a.input
		return w.credentials.resolve(ctx, a)
	}
	for _, step := range [...]func(context.Context, *attempt) error{w.guardrails.restore, w.prompts.expand, w.credentials.resolve, w.guardrails.judgeRequest, w.guardrails.judgeBatch} {
		if err := step(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// finishRequest releases what the request holds and turns a panic into an error response.
func (g *Gateway) finishRequest(ctx context.Context, x *exchange, panicked any, err error) error {
	if panicked != nil {
		err = fmt.Errorf("panic while serving %s: %v", x.match.Endpoint, panicked)
		g.Log.Error("panic while serving request", "request_id", x.id, "trace_id", x.trace.ID, "error", err.Error(), "stack", stack())
		if a := x.last; a != nil && !a.recorded { // releases its holds and closes its ledger entry
			a.fault = fault.Wrap(fault.Internal, err)
			a.status = a.fault.HTTPStatus()
			g.recorder.record(a, record.Failed)
		}
		if !x.headSent {
			err = g.responder.respondError(x, fault.Wrap(fault.Internal, err))
		}
	}
	_ = g.checkDeferred(ctx, x, nil) // after a panic: the request counts in any case
	g.meter.Leave(x.limits)
	took := g.Clock.Now().Sub(x.started)
	g.Metrics.done(x, took.Seconds())
	g.accessLine(x, took)
	x.replay.end(x)
	x.close()
	if panicked == nil {
		x.scratch.release()
	}
	g.open.Add(-1)
	return err
}
