package dataplane

import (
	"context"
	"fmt"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/record"
	"sluice/internal/wire"
)

// Serve answers one request of a client. The steps are those of a request's life;
// the first that fails ends it, and reply renders what came of it. Whatever
// happens, settle has the last word: every answered attempt is on record before
// the client sees the end of the answer.
//
// The error is for the front alone: the client is gone, or the answer had to be
// cut; then the connection must not be used again.
func (g *Gateway) Serve(ctx context.Context, req *wire.Request, out wire.Responder) error {
	return g.serve(ctx, g.newExchange(req, out))
}

func (g *Gateway) serve(ctx context.Context, x *exchange) (err error) {
	defer func() { err = g.finishRequest(ctx, x, recover(), err) }()
	for _, step := range [...]func(context.Context, *exchange) error{g.admit, g.intake, g.walk} {
		if err = step(ctx, x); err != nil {
			break
		}
	}
	return g.respond(ctx, x, g.checkDeferred(ctx, x, err))
}

// admit finds out who calls and whether they may, before a byte of the body is read.
func (g *Gateway) admit(ctx context.Context, x *exchange) error {
	if err := g.identify(x); err != nil {
		return err
	}
	if err := checkMethod(x.req.Method); err != nil {
		return err
	}
	if err := checkLoop(x.req.Header); err != nil {
		return err
	}
	if err := g.limitCaller(ctx, x); err != nil {
		return err
	}
	return g.authorise(x)
}

// intake finds out what is asked and how it shall be routed. The body is decoded
// no further than that needs.
func (g *Gateway) intake(_ context.Context, x *exchange) error {
	if err := g.readBody(x); err != nil {
		return err
	}
	if err := x.readQuery(); err != nil {
		return err
	}
	if x.match.Endpoint == llm.Proxy {
		x.accountInPath()
	}
	if g.States.serves(x.match) {
		return nil // needs no target
	}
	if x.match.Endpoint == llm.RunPrompt {
		if err := g.openPrompt(x); err != nil {
			return err
		}
	}
	if err := g.chooseConfig(x); err != nil {
		return err
	}
	if err := checkLocked(x); err != nil {
		return err
	}
	return checkUnread(x)
}

// try is one attempt at one target, called by the walk: from the call as the
// client made it to an answer in hand. A stream is relayed to its end in here,
// because a stream that dies may go on at the next target. An answer of our own is in
// hand as soon as the call is shaped.
func (g *Gateway) try(ctx context.Context, a *attempt) (err error) {
	defer func() { g.finish(a, err) }()
	for _, step := range [...]func(context.Context, *attempt) error{g.checkGuardrails, g.expand, g.resolve, g.shape, g.reserve, g.send, g.receive, g.stream} {
		if err = step(ctx, a); err != nil || a.estimated {
			return err
		}
	}
	return nil
}

// finishRequest closes what the request held open and turns a panic into an answer.
func (g *Gateway) finishRequest(ctx context.Context, x *exchange, panicked any, err error) error {
	if panicked != nil {
		err = fmt.Errorf("panic while serving %s: %v", x.match.Endpoint, panicked)
		g.Log.Error("panic while serving request", "request_id", x.id, "trace_id", x.trace.id, "error", err.Error(), "stack", stack())
		if a := x.last; a != nil && !a.recorded { // what it holds of limits is given back, and its line closed
			a.fault = fault.Wrap(fault.Internal, err)
			a.status = a.fault.HTTPStatus()
			g.record(a, record.Failed)
		}
		if !x.headSent {
			err = g.respondError(x, fault.Wrap(fault.Internal, err))
		}
	}
	_ = g.checkDeferred(ctx, x, nil) // behind a panic: whatever they say, the request counts
	g.releaseCallerHolds(x)
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
