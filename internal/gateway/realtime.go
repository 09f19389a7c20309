package gateway

import (
	"context"
	"errors"

	"sluice/internal/gateway/realtime"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/sign"
)

// Realtime connects a client to a provider's realtime endpoint. It uses a single target, relays
// frames both ways and writes one record for the whole conversation. It supports only
// /v1/realtime, because the rules for conversations, their models and their cost depend on the
// endpoint.
// Source: contract/dataplane.md 6.6.
func (g *Gateway) Realtime(ctx context.Context, req *wire.Request, client realtime.Client) (err error) {
	x := g.newExchange(req, client)
	defer func() { err = g.finishRequest(ctx, x, recover(), err) }()
	for _, step := range [...]func(context.Context, *exchange) error{g.admit, g.intake} {
		if err := step(ctx, x); err != nil {
			return g.respondError(x, err)
		}
	}
	if x.match.Endpoint != llm.Realtime {
		return g.respondError(x, fault.New(fault.NotSupported, "WebSocket connections are supported only at /v1/realtime"))
	}
	t := x.config.Root.Target
	if t == nil {
		return g.respondError(x, fault.New(fault.InvalidRequest, "realtime calls require a config with one target and without a strategy").WithParam("x-gateway-config"))
	}
	a := &attempt{x: x, target: t, started: g.Clock.Now(), stream: true}
	x.last, x.attempts = a, 1
	up, err := g.openUpstream(ctx, a)
	if err != nil {
		a.fault = fault.From(err)
		a.status = a.fault.HTTPStatus()
		g.record(a, outcomeOf(a.fault))
		return g.respondError(x, err)
	}
	down, err := client.Accept(g.addGatewayHeaders(nil, x))
	if err != nil {
		return errors.Join(g.left(a, err), up.Close(1001, ""))
	}
	x.status, x.headSent, a.status, a.committed = 101, true, 101, true
	g.converse(ctx, a, down, up)
	return nil
}

func (g *Gateway) openUpstream(ctx context.Context, a *attempt) (realtime.Socket, error) {
	for _, step := range [...]func(context.Context, *attempt) error{g.checkGuardrails, g.resolve, g.shape} {
		if err := step(ctx, a); err != nil {
			return nil, err
		}
	}
	h := a.header.Clone(2)
	signed := sign.Request{Method: "GET", Scheme: a.plan.Scheme, Host: a.plan.Host, Target: a.plan.Target, Header: &h}
	if err := g.sign(ctx, a, &signed); err != nil {
		return nil, err
	}
	a.called = g.Clock.Now()
	return realtime.Dial(ctx, g.Sockets, signed.Scheme+"://"+signed.Host+signed.Target, h, g.headTimeout(a))
}

// converse relays a conversation and records it.
func (g *Gateway) converse(ctx context.Context, a *attempt, down, up realtime.Socket) {
	s := newSession(g, a)
	end := realtime.Relay{IdleTimeout: g.set.IdleTimeout}.Run(ctx, down, up, s)
	if end.Refusal != nil {
		a.fault = end.Refusal
	}
	s.end()
	g.record(a, end.Outcome)
}
