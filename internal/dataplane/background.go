package dataplane

import (
	"errors"
	"maps"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/gateway/metering"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Background limits the polling of responses that providers continue after they answered
// ("background": true). Polling finds out their usage. The zero value polls no response: each is
// charged its maximum cost. Source: docs/money.md.
type Background struct {
	Responses int           // maximum polled at once; further ones are charged their maximum cost
	Time      time.Duration // maximum time to poll one, from the start of its call
	Pause     time.Duration // before the first poll of one; it grows up to MaxPause
	MaxPause  time.Duration
}

// working reports whether a response with this status is still in progress at its provider.
// Source: https://platform.openai.com/docs/guides/background, read 2026-11.
func working(status string) bool { return status == "queued" || status == "in_progress" }

// backgrounded is a response that its provider continues in the background. It is an attempt of
// its own under the same request and takes over the reservations of the call. Its ledger entry
// exists from the call's response on; it is recorded when the background response has ended.
type backgrounded struct {
	*attempt               // belongs to the goroutine that polls the response
	id       string        // "resp_AbC"
	input    int64         // tokens of the request, as the gateway counts them
	refused  int           // consecutive polls that the provider rejected
	soon     chan pollDone // holds one requested poll, also while another poll runs
	ended    chan struct{} // closed when it is recorded
}

// detectBackgroundJob checks a response for background work: it starts at the provider, or it has
// ended there.
func (g *Gateway) detectBackgroundJob(a *attempt, response []byte) {
	switch a.x.match.Endpoint {
	case llm.CreateModelResponse:
		a.money.SetResponse(g.meter.ResponseKey(a.bounds(), response))
		a.works(response)
	case llm.GetModelResponse:
		if status := splice.Text(response, "status"); status != "" && !working(status) {
			g.requestPoll(a.x)
		}
	default:
	}
}

func (a *attempt) works(response []byte) {
	if a.x.limits.IsMetered() && working(splice.Text(response, "status")) {
		a.backgroundID = splice.Text(response, "id")
	}
}

// detectStreamJob checks the first event of a stream for background work. A provider continues a
// response without a reader only if it is a background response.
func (g *Gateway) detectStreamJob(a *attempt, first []byte) {
	if a.x.match.Endpoint != llm.CreateModelResponse {
		return
	}
	response, _ := splice.Find(dialect.FirstData(first), "response")
	a.money.SetResponse(g.meter.ResponseKey(a.bounds(), response))
	if current, _ := splice.Find(response, "background"); string(current) == "true" {
		a.works(response)
	}
}

// errFollowed is the reason why a further response is not polled.
var errFollowed = errors.New("the limit of background responses is reached (BACKGROUND_RESPONSES_MAX)")

// handToBackground moves the reservations of an attempt to a new one that polls the background
// response. It returns nil if there is no such response or if it cannot be polled. In the second
// case the attempt is charged its maximum cost.
func (g *Gateway) handToBackground(a *attempt) *backgrounded {
	if a.backgroundID == "" || !a.money.IsOpen() {
		return nil
	}
	b, err := g.backgroundAttempt(a)
	if err != nil {
		a.money.SetOutcome(metering.AbandonedBackground)
		g.Log.Warn("cannot poll background response; charging its maximum cost", "request_id", a.x.id, "trace_id", a.x.trace.ID, "response", a.backgroundID, "error", err.Error())
		return nil
	}
	a.money.HandOver()
	return b
}

// backgroundAttempt returns the attempt that polls the response of another attempt. It is ready
// to poll and has a ledger entry.
func (g *Gateway) backgroundAttempt(a *attempt) (*backgrounded, error) {
	if !g.followers.hasCapacity(g.set.Background.Responses) {
		return nil, errFollowed
	}
	b := g.backgrounded(a)
	if err := g.setAddress(b.attempt, &dialect.Next{Endpoint: llm.GetModelResponse, ID: b.id}, "GET"); err != nil {
		return nil, err
	}
	if err := g.meter.Open(b.money, b.recordID()); err != nil {
		return nil, err // the call retains its reservations
	}
	return b, nil
}

// backgrounded builds the attempt that polls the response of another attempt. It copies only what
// outlives the request. Its scratch is not pooled, because it may live for hours.
func (g *Gateway) backgrounded(a *attempt) *backgrounded {
	source := a.x
	x := source.detach()
	x.match = llm.Match{Endpoint: llm.CreateModelResponse, Body: llm.NoBody}
	b := &backgrounded{id: a.backgroundID, soon: make(chan pollDone, 1), ended: make(chan struct{})}
	b.attempt = &attempt{
		x: x, target: a.target, number: x.attempts - 1, started: a.started, spec: a.spec, account: a.account, values: maps.Clone(a.values), model: a.model, auxiliary: true,
	}
	b.openAccount().Follow(a.money)
	if source.doc != nil {
		b.input = g.counter.Request(llm.CreateModelResponse, source.doc.Source(), a.priceName()).Tokens
	}
	return b
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
	d.spool, d.doc, d.form, d.made, d.direct, d.passes = nil, nil, nil, nil, nil, nil
	d.match.Body = llm.NoBody
	d.limits = r.caller.Share(x.limits)
	d.replay = x.replay.forDetached()
	return d
}
