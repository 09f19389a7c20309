package dataplane

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider/sign"
	"sluice/internal/record"
	"sluice/internal/wire"
)

// Socket is one side of a WebSocket conversation. Read is for one goroutine. Write and Close are
// safe for concurrent use.
type Socket interface {
	Read(ctx context.Context) (text bool, data []byte, err error)
	Write(ctx context.Context, text bool, data []byte) error
	Close(code int, reason string) error
}

// Closed is the error of a Socket that the other side closed.
type Closed struct {
	Code   int // 1000 to 4999; 1005 when the other side sent none
	Reason string
}

// Error returns the close reason.
func (c *Closed) Error() string { return "the socket was closed: " + c.Reason }

// Client is a caller that requests a WebSocket. The gateway accepts it only once the upstream is
// open. Until then it can send an ordinary response.
type Client interface {
	wire.Responder
	Accept(h wire.Header) (Socket, error)
}

// Dialer opens WebSockets to upstreams under the address guard. A refused handshake is a
// *fault.Error with the upstream's status. ctx limits the handshake only.
type Dialer interface {
	Dial(ctx context.Context, url string, h wire.Header) (Socket, error)
}

// Realtime connects a client to a provider's realtime endpoint. It uses a single target, relays
// frames both ways and writes one record for the whole conversation. It supports only
// /v1/realtime, because the rules for conversations, their models and their cost depend on the
// endpoint.
// Source: contract/dataplane.md 6.6.
func (g *Gateway) Realtime(ctx context.Context, req *wire.Request, client Client) (err error) {
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

func (g *Gateway) openUpstream(ctx context.Context, a *attempt) (Socket, error) {
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
	return g.dial(ctx, signed.Scheme+"://"+signed.Host+signed.Target, h, g.headTimeout(a))
}

// dial opens a WebSocket within timeout. Zero waits for as long as the caller does.
func (g *Gateway) dial(ctx context.Context, url string, h wire.Header, timeout time.Duration) (Socket, error) {
	callCtx := ctx
	if timeout > 0 {
		limited, stop := context.WithTimeout(ctx, timeout)
		defer stop()
		callCtx = limited
	}
	up, err := g.Sockets.Dial(callCtx, url, h)
	switch {
	case err == nil:
		return up, nil
	case ctx.Err() != nil:
		return nil, clientGone(ctx, err)
	case callCtx.Err() != nil:
		return nil, fault.Wrap(fault.UpstreamTimeout, err)
	}
	return nil, err
}

// converse relays until one side closes, a limit refuses a response or ctx ends. Then it notifies
// the other side and records the conversation.
func (g *Gateway) converse(ctx context.Context, a *attempt, down, up Socket) {
	callCtx, stop := context.WithCancel(context.WithoutCancel(ctx)) // a cancelled read leaves no time for the close handshake
	defer stop()
	defer context.AfterFunc(ctx, func() { farewell(down, up); stop() })()
	var first struct {
		sync.Once
		err        error
		fromClient bool
	}
	var both sync.WaitGroup
	s := newSession(g, a)
	pump := func(from, to Socket, fromClient bool, see func(context.Context, []byte) error) {
		defer both.Done()
		taking, err := g.relayFrames(callCtx, from, to, see)
		first.Do(func() {
			first.err, first.fromClient = err, fromClient != taking
			if ctx.Err() != nil { // the received close responds to the gateway's own
				first.err, first.fromClient = ctx.Err(), true
			}
			if f := (*fault.Error)(nil); errors.As(err, &f) {
				a.fault = f
				_ = down.Write(callCtx, true, refusedEvent(f)) // the client may have disconnected
				_ = down.Close(1008, "rejected by a limit")
			}
		})
		code, reason := closing(err)
		_ = to.Close(code, reason) // the remaining side receives the reason; it may have disconnected
		stop()
	}
	both.Add(2)
	go pump(down, up, true, s.fromClient)
	go pump(up, down, false, s.fromProvider)
	both.Wait()
	s.end()
	g.record(a, ofConversation(first.err, first.fromClient))
}

// ofConversation returns the outcome of a conversation that ended with err, on the side of the
// client or of the provider.
func ofConversation(err error, ofClient bool) record.Outcome {
	var closed *Closed
	var refused *fault.Error
	switch {
	case errors.As(err, &closed):
		return record.OK
	case errors.As(err, &refused):
		return record.Refused
	case ofClient:
		return record.ClientGone
	}
	return record.Truncated
}

// relayFrames relays messages until one side fails. taking reports that the receiving side
// failed.
func (g *Gateway) relayFrames(ctx context.Context, from, to Socket, see func(context.Context, []byte) error) (taking bool, err error) {
	for {
		text, data, err := from.Read(ctx)
		if err != nil {
			return false, err
		}
		if text {
			if err := see(ctx, data); err != nil {
				return false, err
			}
		}
		if err := g.pass(ctx, to, text, data); err != nil {
			return true, err
		}
	}
}

// pass writes a message to one side, with the idle timeout as the limit. Meanwhile nothing reads
// from the other side, so a disconnect there goes unnoticed.
func (g *Gateway) pass(ctx context.Context, to Socket, text bool, data []byte) error {
	if g.set.IdleTimeout > 0 {
		limited, stop := context.WithTimeout(ctx, g.set.IdleTimeout)
		defer stop()
		ctx = limited
	}
	return to.Write(ctx, text, data)
}

// closing returns the close code and reason for the other side: those of err when they may be
// sent. Source: RFC 6455 section 7.4.1.
func closing(err error) (int, string) {
	var c *Closed
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return 1000, ""
	case !errors.As(err, &c):
		return 1011, "connection to the other side lost"
	}
	if c.Code == 1005 || c.Code == 1006 || c.Code == 1015 || c.Code < 1000 {
		return 1000, ""
	}
	return c.Code, c.Reason
}
