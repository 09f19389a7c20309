package gateway

import (
	"context"
	"errors"
	"time"

	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/realtime"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/tokens"
	"sluice/internal/provider/sign"
)

// Realtime connects a client to a provider's realtime endpoint. It uses a single target, relays
// frames both ways and writes one record for the whole conversation. It supports only
// /v1/realtime, because the rules for conversations, their models and their cost depend on the
// endpoint.
// Source: contract/dataplane.md 6.6.
func (g *Gateway) Realtime(ctx context.Context, req *wire.Request, client realtime.Client) (err error) {
	x := g.exchanges.newExchange(req, client)
	defer func() { err = g.finishRequest(ctx, x, recover(), err) }()
	for _, step := range [...]func(context.Context, *exchange) error{g.admission.admit, g.intake} {
		if err := step(ctx, x); err != nil {
			return g.responder.respondError(x, err)
		}
	}
	if x.match.Endpoint != llm.Realtime {
		return g.responder.respondError(x, fault.New(fault.NotSupported, "WebSocket connections are supported only at /v1/realtime"))
	}
	t := x.config.Root.Target
	if t == nil {
		return g.responder.respondError(x, fault.New(fault.InvalidRequest, "realtime calls require a config with one target and without a strategy").WithParam("x-gateway-config"))
	}
	a := &attempt{x: x, target: t, started: g.Clock.Now(), outgoing: outgoing{stream: true}}
	x.last, x.attempts = a, 1
	up, err := g.conversations.openUpstream(ctx, a)
	if err != nil {
		a.fault = fault.From(err)
		a.status = a.fault.HTTPStatus()
		g.recorder.record(a, outcomeOf(a.fault))
		return g.responder.respondError(x, err)
	}
	down, err := client.Accept(g.clientHeaders.addGatewayHeaders(nil, x))
	if err != nil {
		return errors.Join(g.recorder.left(a, err), up.Close(1001, ""))
	}
	x.status, x.headSent, a.status, a.committed = 101, true, 101, true
	g.conversations.converse(ctx, a, down, up)
	return nil
}

// conversations connects realtime clients to their providers.
type conversations struct {
	guardrails  *guardrailStep
	credentials *credentialResolver
	shaper      *shaper
	clock       ident.Clock
	sockets     realtime.Dialer
	caller      *upstreamCaller
	idleTimeout time.Duration
	recorder    *recorder
	accountant  *accountant
	meter       *metering.Meter
	metrics     *Metrics
	counter     *tokens.Counter
}

func (c *conversations) openUpstream(ctx context.Context, a *attempt) (realtime.Socket, error) {
	for _, step := range [...]func(context.Context, *attempt) error{c.credentials.resolve, c.guardrails.judgeConversation, c.shaper.shape} {
		if err := step(ctx, a); err != nil {
			return nil, err
		}
	}
	h := a.header.Clone(2)
	signed := sign.Request{Method: "GET", Scheme: a.plan.Scheme, Host: a.plan.Host, Target: a.plan.Target, Header: &h}
	if err := c.credentials.sign(ctx, a, &signed); err != nil {
		return nil, err
	}
	a.called = c.clock.Now()
	return realtime.Dial(ctx, c.sockets, signed.Scheme+"://"+signed.Host+signed.Target, h, c.caller.headTimeout(a))
}

// converse relays a conversation and records it.
func (c *conversations) converse(ctx context.Context, a *attempt, down, up realtime.Socket) {
	s := newSession(c, a)
	guard, finish := c.guardrails.screen(a, s.probe)
	guard = c.guardrails.restoreConversation(a, guard)
	end := realtime.Relay{IdleTimeout: c.idleTimeout, Guard: guard}.Run(ctx, down, up, s)
	finish()
	c.guardrails.keepValues(ctx, a)
	if end.Refusal != nil {
		a.fault = end.Refusal
	}
	s.end()
	c.recorder.record(a, end.Outcome)
}
