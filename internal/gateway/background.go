package gateway

import (
	"context"
	"log/slog"
	"maps"

	"sluice/internal/dialect"
	"sluice/internal/dialect/usage"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/background"
	"sluice/internal/gateway/metering"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

// Background returns the part that polls responses that providers continue in the background.
func (g *Gateway) Background() *background.Poller { return g.background }

// backgroundCall reads and records a response that its provider continues in the background. It is
// an attempt of its own under the same request and takes over the reservations of the call. Its
// ledger entry exists from the call's response on; it is recorded when the background response has
// ended. It implements background.Call.
type backgroundCall struct {
	tracker *backgroundTracker
	attempt *attempt // belongs to the goroutine that polls the response
	input   int64    // tokens of the request, as the gateway counts them
}

// Poll implements background.Call.
func (b *backgroundCall) Poll(ctx context.Context) (*background.Result, error) {
	resp, err := b.tracker.caller.call(ctx, b.attempt, nil)
	b.attempt.firstByte = 0 // it would be that of this poll only
	if err != nil {
		return nil, err
	}
	body, err := readAll(resp, b.tracker.maxResponseBytes)
	if err != nil {
		return nil, err
	}
	return &background.Result{Status: resp.Status, ContentType: resp.Header.Get("content-type"), Body: body}, nil
}

// Record implements background.Call.
func (b *backgroundCall) Record(got *background.Result, status string) {
	a, r, size := b.attempt, b.attempt.log(), int64(len(got.Body))
	r.Response = b.tracker.recorder.truncateBody(got.ContentType, got.Body, size)
	r.Usage, r.ResponseModel = usage.Read(llm.CreateModelResponse, got.Body, "")
	if a.status = got.Status; status == "failed" {
		a.status, r.Error = 502, jsonedit.Text(got.Body, "error", "message")
		b.tracker.recorder.record(a, record.Failed)
		return
	}
	if r.BytesOut = size; !r.Usage.Reported { // it was cancelled
		r.Usage.InputTokens, r.Usage.OutputTokens = b.input, b.tracker.counter.ResponseBody(llm.CreateModelResponse, got.Body, a.priceName()).Tokens
	}
	b.tracker.recorder.record(a, record.OK)
}

// Abandon implements background.Call.
func (b *backgroundCall) Abandon(o record.Outcome, reason string) {
	b.attempt.money.SetOutcome(metering.AbandonedBackground)
	b.attempt.status, b.attempt.log().Error = 504, reason
	b.tracker.recorder.record(b.attempt, o)
}

// backgroundTracker finds responses that providers continue in the background, and hands them to
// the poller.
type backgroundTracker struct {
	caller           *upstreamCaller
	maxResponseBytes int64
	recorder         *recorder
	counter          *tokens.Counter
	meter            *metering.Meter
	background       *background.Poller
	log              *slog.Logger
	upstreamHeaders  *upstreamHeaders
}

// detectBackgroundJob checks a response for background work: it starts at the provider, or it has
// ended there.
func (t *backgroundTracker) detectBackgroundJob(a *attempt, response []byte) {
	switch a.x.match.Endpoint {
	case llm.CreateModelResponse:
		a.money.SetResponse(t.meter.ResponseKey(a.bounds(), response))
		noteBackgroundID(a, response)
	case llm.GetModelResponse:
		if status := jsonedit.Text(response, "status"); status != "" && !background.IsWorking(status) {
			t.background.RequestPoll(a.x.key.Principal.WorkspaceID, a.x.match.ID)
		}
	default:
	}
}

func noteBackgroundID(a *attempt, response []byte) {
	if id := background.WorkingID(response); id != "" && a.x.limits.IsMetered() {
		a.backgroundID = id
	}
}

// detectStreamJob checks the first event of a stream for background work. A provider continues a
// response without a reader only if it is a background response.
func (t *backgroundTracker) detectStreamJob(a *attempt, first []byte) {
	if a.x.match.Endpoint != llm.CreateModelResponse {
		return
	}
	response, _ := jsonedit.Find(dialect.FirstData(first), "response")
	a.money.SetResponse(t.meter.ResponseKey(a.bounds(), response))
	if current, _ := jsonedit.Find(response, "background"); string(current) == "true" {
		noteBackgroundID(a, response)
	}
}

// handToBackground moves the reservations of an attempt to a new one that polls the background
// response. It returns nil if there is no such response or if it cannot be polled. In the second
// case the attempt is charged its maximum cost.
func (t *backgroundTracker) handToBackground(a *attempt) *background.Response {
	if a.backgroundID == "" || !a.money.IsOpen() {
		return nil
	}
	b, err := t.backgroundCall(a)
	if err != nil {
		a.money.SetOutcome(metering.AbandonedBackground)
		t.log.Warn("cannot poll background response; charging its maximum cost", "request_id", a.x.id, "trace_id", a.x.trace.ID, "response", a.backgroundID, "error", err.Error())
		return nil
	}
	a.money.HandOver()
	return &background.Response{ID: a.backgroundID, WorkspaceID: a.x.key.Principal.WorkspaceID, RequestID: a.x.id, TraceID: a.x.trace.ID, Started: a.started, Call: b}
}

// backgroundCall returns the call that polls the response of an attempt. It is ready to poll and
// has a ledger entry.
func (t *backgroundTracker) backgroundCall(a *attempt) (*backgroundCall, error) {
	if !t.background.HasCapacity() {
		return nil, background.ErrFull
	}
	b := &backgroundCall{tracker: t, attempt: backgroundAttempt(a)}
	if doc := a.x.doc; doc != nil {
		b.input = t.counter.Request(llm.CreateModelResponse, doc.Source(), a.priceName()).Tokens
	}
	if err := t.upstreamHeaders.setAddress(b.attempt, &dialect.Next{Endpoint: llm.GetModelResponse, ID: a.backgroundID}, "GET"); err != nil {
		return nil, err
	}
	if err := t.meter.Open(b.attempt.money, b.attempt.recordID()); err != nil {
		return nil, err // the call retains its reservations
	}
	return b, nil
}

// backgroundAttempt returns the attempt that polls the response of another attempt. It copies only
// what outlives the request. Its scratch is not pooled, because it may live for hours.
func backgroundAttempt(a *attempt) *attempt {
	x := a.x.detach()
	x.match = llm.Match{Endpoint: llm.CreateModelResponse, Body: llm.NoBody}
	b := &attempt{
		x: x, target: a.target, number: x.attempts - 1, started: a.started, auxiliary: true,
		resolvedTarget: resolvedTarget{spec: a.spec, account: a.account, values: maps.Clone(a.values), model: a.model},
	}
	b.openAccount().Follow(a.money)
	return b
}

// startPolling polls a background response until it ends.
func (t *backgroundTracker) startPolling(r *background.Response) { t.background.Add(r) }

// pollBefore polls a background response before a caller deletes it.
func (t *backgroundTracker) pollBefore(ctx context.Context, x *exchange) {
	if x.match.Endpoint == llm.DeleteModelResponse {
		t.background.PollBeforeDelete(ctx, x.key.Principal.WorkspaceID, x.match.ID)
	}
}

// detach returns a copy of the exchange for an attempt that outlives it. The copy does not
// contain the body, the client or the limits of the request.
func (x *exchange) detach() *exchange {
	r := &scratch{}
	x.attempts++
	r.exchange = *x
	d := &r.exchange
	current := *x.req
	current.Header, current.Body, current.Length = x.req.Header.Clone(0), nil, 0
	d.scratch, d.req, d.out, d.last = r, &current, nil, nil
	d.requestBody = requestBody{bodyNotParsed: x.bodyNotParsed}
	d.match.Body = llm.NoBody
	d.limits = r.caller.Share(x.limits)
	d.replay = x.replay.forDetached()
	return d
}
