package gateway

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"sluice/internal/domain/routing"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/gateway/metering"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
)

// sender sends the call of an attempt and repeats it by the target's retry policy.
type sender struct {
	backgroundJobs *backgroundTracker
	accountant     *accountant
	shaper         *shaper
	refusedParams  *refusedParams
	clock          ident.Clock
	log            *slog.Logger
	caller         *upstreamCaller
	metrics        *Metrics
}

// send calls the upstream and retries by the target's retry policy. It sets the response in
// a.resp, or returns the error.
// Source: contract/dataplane.md 4.1.
func (s *sender) send(ctx context.Context, a *attempt) error {
	s.backgroundJobs.pollBefore(ctx, a.x)
	var waited time.Duration
	for n := a.tries; ; n++ {
		resp, err := s.caller.call(ctx, a, &a.x.scratch.responseBuffer)
		if err != nil && ctx.Err() != nil {
			return clientGone(ctx, err)
		}
		if err == nil && isRefused(a, resp) {
			if err := s.resend(ctx, a, resp); err != nil {
				return err
			}
			n-- // a resend does not count as a retry
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
			wait, again, refused = a.target.Retry.Next(routing.Tried{Retries: n, UpstreamFailed: err != nil && !late, Status: status, Header: head, Waited: waited}, s.clock.Now())
			again = again && (late || curable(err)) && ctx.Err() == nil
		}
		if !again || !a.body.Replayable() {
			s.remember(a, resp)
			a.resp, a.retries = resp, n
			a.retried = retryCount(a, n, refused, status, err)
			return err
		}
		if resp != nil {
			noteRetried(a, resp)
			_ = resp.Body.Close() // the retry replaces this response
		}
		a.first, a.translator = nil, nil // the retry has a new stream
		s.metrics.retry(a)
		waited += wait
		if err := background.Sleep(ctx, wait); err != nil {
			return clientGone(ctx, err)
		}
		if err := s.accountant.reserveRetry(ctx, a, err); err != nil {
			return err
		}
		a.log().Usage = llm.Usage{} // the ledger has the usage of the previous try
	}
}

// curable reports whether a retry may help after a call that ended with err, other than a
// timeout. A call that was refused before anything was sent would be refused again.
func curable(err error) bool {
	return err == nil || fault.Has(err, fault.UpstreamUnreachable) || fault.Has(err, fault.UpstreamFailed) || fault.Has(err, fault.UpstreamInvalid)
}

// retryCount returns 0 without a retry or a retry policy, and n when the nth retry succeeded. It
// returns -1 when all retries were used, or when a wait was refused.
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

// upstreamCaller makes one upstream call. It continues calls that outlive their requests.
type upstreamCaller struct {
	abandoned          *disconnect.Calls
	meter              *metering.Meter
	open               *atomic.Int64
	clock              ident.Clock
	recorder           *recorder
	maxResponseBytes   int64
	rules              *ruleCache
	credentials        *credentialResolver
	idleTimeout        time.Duration
	client             *transport.Client
	bodies             *bodyReader
	translator         *translator
	defaultHeadTimeout time.Duration
}

// call signs the request and sends it once. buf must not be in use by another response; nil
// allocates a new one.
func (u *upstreamCaller) call(ctx context.Context, a *attempt, buf *transport.ResponseBuffer) (*transport.Response, error) {
	r := a.x.scratch
	r.signed = append(r.signed[:0], a.header...)
	r.signing = sign.Request{Method: a.plan.Method, Scheme: a.plan.Scheme, Host: a.plan.Host, Target: a.plan.Target, Header: &r.signed, Body: a.body}
	if err := u.credentials.sign(ctx, a, &r.signing); err != nil {
		return nil, err
	}
	r.request = transport.Request{
		Method: a.plan.Method, Scheme: a.plan.Scheme, Host: a.plan.Host, Target: r.signing.Target, Header: r.signed, Body: a.body,
		HeadTimeout: u.headTimeout(a), IdleTimeout: u.idleTimeout, ResponseBuffer: buf,
	}
	a.outlives.Release()
	a.outlives = nil
	switch {
	case buf == nil || a != &r.attempt:
	case a.x.passes != nil && !a.body.Replayable(): // the upload timeout also ends the call
		ctx = u.detach(ctx, a)
	default:
		r.request.Detach = r.detach
		if r.request.HeadTimeout > 0 && mayGoOn(a) {
			r.request.Late = func(p *transport.Pending) bool { return u.goOn(a, p) }
		}
	}
	if a.called.IsZero() {
		a.called = u.clock.Now()
	}
	ctx, answered := u.cancelOnStalledUpload(ctx, a)
	resp, err := u.client.Do(ctx, &r.request)
	err = answered(err)
	a.money.SetSent(a.money.IsSent() || reached(err)) // a request may consist of several calls
	if unsentErr := u.bodies.unsent(err); unsentErr != nil {
		return nil, unsentErr
	}
	if err != nil {
		return nil, err
	}
	if err := decodeBody(a, resp); err != nil {
		_ = resp.Body.Close() // it cannot be decoded
		return nil, err
	}
	a.upstream, a.got = int32(resp.Status), resp.Header
	a.firstByte = u.clock.Now().Sub(a.started)
	a.queue, a.connect = resp.Queue, resp.Connect
	if a.outlives.IsBuffered() {
		resp.Body = a.outlives.LimitBody(resp.Body)
	}
	noteRetryInfo(a, resp)
	correctLabel(a, resp, buf != nil)
	a.stream = a.stream || a.x.bodyNotParsed && a.unified() && eventStream(resp.Header) // the request for a stream was not parsed
	if a.stream && a.unified() && resp.Status == 200 && (eventStream(resp.Header) || a.textStream(resp.Header)) {
		u.translator.translateStream(a, resp)
		if resp.Status, err = u.peek(a, resp); err != nil {
			_ = resp.Body.Close() // the stream contained no response
			return nil, err
		}
	}
	return resp, nil
}

// reached reports whether a provider may have received the complete call that ended with err.
func reached(err error) bool {
	var upload *transport.BodyError
	return err == nil || !errors.As(err, &upload) && !fault.Has(err, fault.UpstreamUnreachable) && !fault.Has(err, fault.AddressRefused)
}

// headTimeout returns the timeout of the request, or else of the target, or else of the
// deployment.
func (u *upstreamCaller) headTimeout(a *attempt) time.Duration {
	switch {
	case a.x.ctl.Timeout > 0:
		return a.x.ctl.Timeout
	case a.target.Timeout > 0:
		return a.target.Timeout
	}
	return u.defaultHeadTimeout
}
