package dataplane

import (
	"context"
	"errors"
	"slices"
	"time"

	"sluice/internal/background"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
	"sluice/internal/routing"
	"sluice/internal/wire"
)

// send calls the upstream, again as often as the target's retry policy says. It
// ends with a response head in a.resp, or with why there is none.
// Source: contract/dataplane.md 4.1.
func (g *Gateway) send(ctx context.Context, a *attempt) error {
	g.pollBefore(ctx, a.x)
	var waited time.Duration
	for n := 0; ; n++ {
		resp, err := g.call(ctx, a, &a.x.scratch.responseBuffer)
		if err != nil && ctx.Err() != nil {
			return clientGone(ctx, err)
		}
		if err == nil && a.isRefused(resp) {
			if err := g.resend(ctx, a, resp); err != nil {
				return err
			}
			n-- // it does not count as a retry
			continue
		}
		status, head := 0, wire.Header(nil)
		if err == nil {
			status, head = resp.Status, resp.Header
		}
		var wait time.Duration
		var again, refused bool
		if a.target.Retry != nil {
			late := fault.Has(err, fault.UpstreamTimeout)
			if late {
				status = 408
			}
			wait, again, refused = a.target.Retry.Next(routing.Tried{Retries: n, UpstreamFailed: err != nil && !late, Status: status, Header: head, Waited: waited}, g.Clock.Now())
			again = again && (late || curable(err)) && ctx.Err() == nil
		}
		if !again || !a.body.Replayable() {
			g.remember(a, resp)
			a.resp, a.retries = resp, n
			a.retried = retryCount(a, n, refused, status, err)
			return err
		}
		if resp != nil {
			a.noteRetried(resp)
			_ = resp.Body.Close() // this answer is given up for another try
		}
		a.first, a.translator = nil, nil // and so is the beginning of its stream
		g.Metrics.retry(a)
		waited += wait
		if err := background.Sleep(ctx, wait); err != nil {
			return clientGone(ctx, err)
		}
		if err := g.reserveRetry(ctx, a, err); err != nil {
			return err
		}
		a.log().Usage = llm.Usage{} // that of the try before is on the ledger
	}
}

// curable reports whether a call that ended in err, which is no timeout, may go better when
// it is made again: what was refused before anything was sent is refused again.
func curable(err error) bool {
	return err == nil || fault.Has(err, fault.UpstreamUnreachable) || fault.Has(err, fault.UpstreamFailed) || fault.Has(err, fault.UpstreamInvalid)
}

// retryCount is 0 when no retry was made or configured, n when the nth retry
// succeeded, -1 when retries were configured and used up or a wait was refused.
// Source: contract/dataplane.md part 2.
func retryCount(a *attempt, n int, refused bool, status int, err error) int {
	if a.target.Retry == nil {
		return 0
	}
	failed := err != nil || slices.Contains(a.target.Retry.OnStatus, status)
	if refused || failed && n >= a.target.Retry.Attempts && a.target.Retry.Attempts > 0 {
		return -1
	}
	return n
}

// call signs the request and sends it once. The answer may be made in a room that no
// other answer is read from meanwhile; nil makes it a new one.
func (g *Gateway) call(ctx context.Context, a *attempt, buf *transport.ResponseBuffer) (*transport.Response, error) {
	r := a.x.scratch
	r.signed = append(r.signed[:0], a.header...)
	r.signing = sign.Request{Method: a.plan.Method, Scheme: a.plan.Scheme, Host: a.plan.Host, Target: a.plan.Target, Header: &r.signed, Body: a.body}
	if err := g.sign(ctx, a, &r.signing); err != nil {
		return nil, err
	}
	r.request = transport.Request{
		Method: a.plan.Method, Scheme: a.plan.Scheme, Host: a.plan.Host, Target: r.signing.Target, Header: r.signed, Body: a.body,
		HeadTimeout: g.headTimeout(a), IdleTimeout: g.set.IdleTimeout, ResponseBuffer: buf,
	}
	a.outlives.release()
	a.outlives = nil
	switch {
	case buf == nil || a != &r.attempt:
	case a.x.passes != nil && !a.body.Replayable(): // the time to take the body ends the call, too
		ctx = g.detach(ctx, a)
	default:
		r.request.Detach = r.detach
		if r.request.HeadTimeout > 0 && a.mayGoOn() {
			r.request.Late = func(p *transport.Pending) bool { return g.goOn(a, p) }
		}
	}
	if a.called.IsZero() {
		a.called = g.Clock.Now()
	}
	ctx, answered := g.cancelOnStalledUpload(ctx, a)
	resp, err := g.Client.Do(ctx, &r.request)
	err = answered(err)
	a.sentUpstream = a.sentUpstream || reached(err) // a request may take several calls
	if unsentErr := g.unsent(err); unsentErr != nil {
		return nil, unsentErr
	}
	if err != nil {
		return nil, err
	}
	if err := a.decodeBody(resp); err != nil {
		_ = resp.Body.Close() // nobody can read it
		return nil, err
	}
	a.upstream, a.got = int32(resp.Status), resp.Header
	a.firstByte = g.Clock.Now().Sub(a.started)
	a.queue, a.connect = resp.Queue, resp.Connect
	if o := a.outlives; o.isBuffered(g) {
		resp.Body = &readOn{resp.Body, o}
	}
	a.noteRetryInfo(resp)
	a.judge(resp, buf != nil)
	a.stream = a.stream || a.x.bodyNotParsed && a.unified() && eventStream(resp.Header) // what asked for it was not read
	if a.stream && a.unified() && resp.Status == 200 && (eventStream(resp.Header) || a.textStream(resp.Header)) {
		g.translateStream(a, resp)
		if resp.Status, err = g.peek(a, resp); err != nil {
			_ = resp.Body.Close() // there was no answer in it
			return nil, err
		}
	}
	return resp, nil
}

// reached reports whether a provider may have seen a whole call that ended in err.
func reached(err error) bool {
	var upload *transport.BodyError
	return err == nil || !errors.As(err, &upload) && !fault.Has(err, fault.UpstreamUnreachable) && !fault.Has(err, fault.AddressRefused)
}

// headTimeout is what the request says, else the target, else the deployment.
func (g *Gateway) headTimeout(a *attempt) time.Duration {
	switch {
	case a.x.ctl.timeout > 0:
		return a.x.ctl.timeout
	case a.target.Timeout > 0:
		return a.target.Timeout
	}
	return g.set.HeadTimeout
}
