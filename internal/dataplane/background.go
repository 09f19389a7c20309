package dataplane

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Background says how responses are followed that providers go on working on after they
// answered ("background": true), so that what they used is known. The zero value follows
// none: each counts with the bound of its cost. Source: docs/money.md.
type Background struct {
	Responses int           // that are followed at once; a further one counts with its bound
	Time      time.Duration // that one is followed for, from its call on
	Pause     time.Duration // before the first look at one; it grows up to MaxPause
	MaxPause  time.Duration
}

// working says whether a provider still works on a response whose state it tells.
// Source: https://platform.openai.com/docs/guides/background, read 2026-11.
func working(status string) bool { return status == "queued" || status == "in_progress" }

// backgrounded is a response that its provider works on in the background. The work is an
// attempt of its own under the same request, which has taken over what the call held of
// limits: on the ledger since the call was answered, on record when the response has ended.
type backgrounded struct {
	*attempt               // belongs to the goroutine that follows the response
	id       string        // "resp_AbC"
	input    int64         // tokens of the request, counted here
	refused  int           // looks that the provider refused, one after the other
	soon     chan pollDone // has a place for a look that is asked for while another one is made, or none yet
	ended    chan struct{} // closed when it is on record
}

// detectBackgroundJob notes of an answer with a response that its provider goes on working on it, or
// that it does so no longer.
func (g *Gateway) detectBackgroundJob(a *attempt, response []byte) {
	switch a.x.match.Endpoint {
	case llm.CreateModelResponse:
		a.answers = g.contexts.key(a, response)
		a.works(response)
	case llm.GetModelResponse:
		if status := splice.Text(response, "status"); status != "" && !working(status) {
			g.requestPoll(a.x)
		}
	default:
	}
}

func (a *attempt) works(response []byte) {
	if a.x.metered && working(splice.Text(response, "status")) {
		a.backgroundID = splice.Text(response, "id")
	}
}

// detectStreamJob is works of a stream, by its first event. Only a response in the background is
// worked on when nobody reads the stream.
func (g *Gateway) detectStreamJob(a *attempt, first []byte) {
	if a.x.match.Endpoint != llm.CreateModelResponse {
		return
	}
	response, _ := splice.Find(dialect.FirstData(first), "response")
	a.answers = g.contexts.key(a, response)
	if current, _ := splice.Find(response, "background"); string(current) == "true" {
		a.works(response)
	}
}

// errFollowed is why a further response is not followed.
var errFollowed = errors.New("the limit of background responses is reached (BACKGROUND_RESPONSES_MAX)")

// handToBackground moves what an attempt holds of limits on to one that follows the response which
// the provider works on. Nil where there is none, or where nobody can follow it: then the
// attempt counts with its bound.
func (g *Gateway) handToBackground(a *attempt) *backgrounded {
	if a.backgroundID == "" || !a.reservation.reserved() {
		return nil
	}
	b, err := g.backgroundAttempt(a)
	if err != nil {
		a.outcome = abandonedBackground
		g.Log.Warn("cannot poll background response; charging its maximum cost", "request_id", a.x.id, "trace_id", a.x.trace.id, "response", a.backgroundID, "error", err.Error())
		return nil
	}
	a.outcome, a.reservation.holds, a.reservation.rates = inBackground, nil, 0
	return b
}

// backgroundAttempt is the attempt that follows the response of another, ready to ask for it, and on
// the ledger.
func (g *Gateway) backgroundAttempt(a *attempt) (*backgrounded, error) {
	if !g.followers.hasCapacity(g.set.Background.Responses) {
		return nil, errFollowed
	}
	b := g.backgrounded(a)
	if err := g.setAddress(b.attempt, &dialect.Next{Endpoint: llm.GetModelResponse, ID: b.id}, "GET"); err != nil {
		return nil, err
	}
	if err := g.appendEntry(b.attempt, g.Clock.Now(), b.recordID()); err != nil {
		return nil, err // what it would hold is the call's still
	}
	b.sentUpstream = true // with the call
	return b, nil
}

// backgrounded is the attempt that follows the response of another, with nothing of the
// request but what outlasts it. Its room is not lent: it may be kept for hours.
func (g *Gateway) backgrounded(a *attempt) *backgrounded {
	source := a.x
	x := source.detach()
	x.match = llm.Match{Endpoint: llm.CreateModelResponse, Body: llm.NoBody}
	b := &backgrounded{id: a.backgroundID, soon: make(chan pollDone, 1), ended: make(chan struct{})}
	b.attempt = &attempt{
		x: x, target: a.target, number: x.attempts - 1, started: a.started, spec: a.spec, account: a.account, values: maps.Clone(a.values), model: a.model, auxiliary: true, answers: a.answers,
	}
	*b.newReservation() = *a.reservation
	b.reservation.holds, b.reservation.open = slices.Clone(a.reservation.holds), false
	if source.doc != nil {
		b.input = g.counter.Request(llm.CreateModelResponse, source.doc.Source(), a.priceName()).Tokens
	}
	return b
}

// detach returns a copy of the exchange for a further attempt that outlasts it: it has what is
// needed of the request, and nothing of its body, its client or its limits.
func (x *exchange) detach() *exchange {
	r := &scratch{}
	x.attempts++
	r.exchange = *x
	d := &r.exchange
	current := *x.req
	current.Header, current.Body, current.Length = x.req.Header.Clone(0), nil, 0
	d.scratch, d.req, d.out, d.last = r, &current, nil, nil
	d.spool, d.doc, d.form, d.made, d.direct, d.passes = nil, nil, nil, nil, nil, nil
	d.match.Body, d.holds = llm.NoBody, nil
	d.replay = x.replay.forDetached()
	return d
}

// cancelsWork reports whether a path is that by which a response is cancelled. That costs
// nothing, and the answer tells once more what the response used.
func cancelsWork(path string) bool {
	id, ok := strings.CutPrefix(path, "/responses/")
	if !ok {
		return false
	}
	id, ok = strings.CutSuffix(id, "/cancel")
	return ok && id != "" && strings.Trim(id, idAlphabet) == ""
}

// idAlphabet are what ids of responses are made of.
const idAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
