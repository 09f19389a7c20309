package gateway

import (
	"context"
	"maps"

	"sluice/internal/dialect/usage"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering"
	"sluice/internal/kernel/ident"
	"sluice/internal/provider/transport"
)

// detach returns the context for a provider call. If the limits permit it, the call may outlive
// ctx.
func (u *upstreamCaller) detach(ctx context.Context, a *attempt) context.Context {
	a.outlives.Release()
	ctx, a.outlives = u.abandoned.Detach(ctx, !a.wantsStream() && a.money.IsOpen())
	return ctx
}

// mayGoOn reports whether a call that timed out may continue without its request. It must be for
// a buffered response, have a ledger entry, and consist of one provider call.
func mayGoOn(a *attempt) bool {
	return a.money.IsOpen() && !a.wantsStream() && len(a.more) == 0 && !a.auxiliary
}

// goOn continues a call that did not respond in time. It moves the reservation to a new attempt
// of the same request, whose record receives the usage that the response reports. It returns
// false when the call must be cancelled.
func (u *upstreamCaller) goOn(a *attempt, p *transport.Pending) bool {
	if !a.outlives.IsBuffered() || !a.outlives.Detach() {
		return false
	}
	b := u.apart(a)
	if u.meter.Open(b.money, b.recordID()) != nil {
		return false // the call is cancelled, and is charged its maximum cost
	}
	b.outlives = a.outlives
	a.outlives = nil
	a.money.HandOverRest()
	u.open.Add(1)
	go u.readPending(b, p)
	return true
}

// apart returns an attempt that outlives the exchange of a. It has a copy of the needed parts of
// the request, and the reservation's holds on budgets and token rates.
func (u *upstreamCaller) apart(a *attempt) *attempt {
	x := a.x.detach()
	plan := *a.plan
	b := &attempt{
		x: x, target: a.target, number: x.attempts - 1, started: a.started, auxiliary: true,
		resolvedTarget: resolvedTarget{spec: a.spec, account: a.account, values: maps.Clone(a.values), model: a.model},
		outgoing:       outgoing{plan: &plan, header: a.header.Clone(0)},
		translatedCall: translatedCall{speech: a.speech},
		callTimes:      callTimes{called: a.called},
		charging:       charging{job: a.job, modelInPath: a.modelInPath},
	}
	b.openAccount().Continue(a.money)
	b.id = ident.NewIDAt(u.clock.Now())
	return b
}

// readPending reads the response to a continued call, and records it.
func (u *upstreamCaller) readPending(b *attempt, p *transport.Pending) {
	defer u.open.Add(-1)
	defer b.close()
	b.status = 408
	b.log().Error = "the response arrived after the timeout"
	if !u.receivePending(b, p) {
		b.money.SetOutcome(metering.AbandonedBackground)
		b.log().Error = "the response did not arrive before the timeout, and was not read to the end afterwards"
	}
	u.recorder.record(b, record.Timeout)
}

// receivePending reports whether the complete result of the call is known.
func (u *upstreamCaller) receivePending(b *attempt, p *transport.Pending) bool {
	resp, err := p.Await()
	if err != nil {
		return false
	}
	resp.Body = b.outlives.LimitBody(resp.Body)
	b.upstream, b.got = int32(resp.Status), resp.Header
	b.firstByte = u.clock.Now().Sub(b.started)
	if err := decodeBody(b, resp); err != nil {
		_ = resp.Body.Close() // it cannot be decoded
		return false
	}
	body, err := readAll(resp, u.maxResponseBytes)
	if err != nil {
		return false
	}
	r := b.log()
	r.Response, r.BytesOut = u.recorder.truncateBody(resp.Header.Get("content-type"), body, int64(len(body))), int64(len(body))
	b.drained = true
	if resp.Status >= 400 {
		r.Usage = b.errorUsage(body)
		return true
	}
	if b.job != nil { // usage follows when the job has ended; the response has the provider's job id
		return !b.speech.translates()
	}
	if r.Usage, r.ResponseModel = usage.Read(b.x.match.Endpoint, body, u.rules.responseRules(b).UsagePath); !r.Usage.Reported || b.speech.translates() {
		r.Usage = b.errorUsage(body) // whatever the provider's format
	}
	return r.Usage.Reported
}
