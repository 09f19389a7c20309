package dataplane

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider/transport"
	"sluice/internal/record"
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

const (
	looksAtOnce  = 16               // that are made at providers
	lookTime     = 30 * time.Second // that one may take
	lastLookTime = 2 * time.Second  // likewise, when the gateway stops
	refusedLooks = 5                // one after the other, until nobody will hear of a response any more
)

// working says whether a provider still works on a response whose state it tells.
// Source: https://platform.openai.com/docs/guides/background, read 2026-11.
func working(status string) bool { return status == "queued" || status == "in_progress" }

// backgrounded is a response that its provider works on in the background. The work is an
// attempt of its own under the same request, which has taken over what the call held of
// limits: on the ledger since the call was answered, on record when the response has ended.
type backgrounded struct {
	*attempt        // belongs to the goroutine that follows the response
	id       string // "resp_AbC"
	input    int64  // tokens of the request, counted here
	refused  int    // looks that the provider refused, one after the other
	soon     chan looked
	ended    chan struct{} // closed when it is on record
}

// looked is closed when a look that was asked for is over.
type looked chan struct{}

// followers are the responses that are followed, by workspace and id. Safe for concurrent use.
type followers struct {
	looks chan struct{} // a place for each look
	bell  chan struct{}

	mu     sync.Mutex // guards what follows
	of     map[string]*backgrounded
	fresh  []*backgrounded // that nobody follows yet
	closed bool
}

func newFollowers() *followers {
	return &followers{looks: make(chan struct{}, looksAtOnce), bell: make(chan struct{}, 1), of: map[string]*backgrounded{}}
}

// room reports whether one of most has a place.
func (f *followers) room(most int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.closed && len(f.of) < most
}

// enter has b followed; false when nobody will do that any more.
func (f *followers) enter(b *backgrounded) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.of[b.place()], f.fresh = b, append(f.fresh, b)
	select {
	case f.bell <- struct{}{}:
	default:
	}
	return true
}

// begun are those that entered since the last time.
func (f *followers) begun() []*backgrounded {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := f.fresh
	f.fresh = nil
	return fresh
}

func (f *followers) leave(b *backgrounded) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, b.place())
	close(b.ended)
}

// close lets no more in.
func (f *followers) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

func (f *followers) find(workspace, id string) *backgrounded {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of[workspace+"/"+id]
}

func (b *backgrounded) place() string { return b.x.key.Principal.WorkspaceID + "/" + b.id }

// Background is the number of responses that are followed although their callers have been
// answered.
func (g *Gateway) Background() int {
	g.followers.mu.Lock()
	defer g.followers.mu.Unlock()
	return len(g.followers.of)
}

// FollowBackground follows responses until ctx ends. Then it looks at each once more; those
// that have not ended by then are on record as interrupted, with the bound of their cost.
// It is called once.
func (g *Gateway) FollowBackground(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	for stopping := false; !stopping; {
		select {
		case <-ctx.Done():
			stopping = true
			g.followers.close()
		case <-g.followers.bell:
		}
		for _, b := range g.followers.begun() {
			all.Go(func() { g.follow(ctx, b) })
		}
	}
	return nil
}

// noteWork notes of an answer with a response that its provider goes on working on it, or
// that it does so no longer.
func (g *Gateway) noteWork(a *attempt, response []byte) {
	switch a.x.match.Endpoint {
	case llm.CreateModelResponse:
		a.works(response)
	case llm.GetModelResponse:
		if status := splice.Text(response, "status"); status != "" && !working(status) {
			g.tellSoon(a.x)
		}
	default:
	}
}

func (a *attempt) works(response []byte) {
	if a.x.metered && working(splice.Text(response, "status")) {
		a.atWork = splice.Text(response, "id")
	}
}

// worksOn is works of a stream, by its first event. Only a response in the background is
// worked on when nobody reads the stream.
func (a *attempt) worksOn(first []byte) {
	if a.x.match.Endpoint != llm.CreateModelResponse {
		return
	}
	response, _ := splice.Find(dialect.FirstData(first), "response")
	if in, _ := splice.Find(response, "background"); string(in) == "true" {
		a.works(response)
	}
}

// handOver moves what an attempt holds of limits on to one that follows the response which
// the provider works on. Nil where there is none, or where nobody can follow it: then the
// attempt counts with its bound.
func (g *Gateway) handOver(a *attempt) *backgrounded {
	if a.atWork == "" || !a.stake.reserved() {
		return nil
	}
	a.unheard = true
	if !g.followers.room(g.set.Background.Responses) {
		g.Log.Warn("a response in the background is not followed, and counts with the bound of its cost: too many are", "request_id", a.x.id, "trace_id", a.x.trace.id, "response", a.atWork)
		return nil
	}
	b := g.backgrounded(a)
	err := g.aim(b.attempt, &dialect.Next{Endpoint: llm.GetModelResponse, ID: b.id}, "GET")
	if err == nil {
		err = g.enter(b.attempt, g.Clock.Now(), b.recordID())
	}
	if err != nil {
		g.Log.Warn("a response in the background cannot be followed, and counts with the bound of its cost", "request_id", a.x.id, "trace_id", a.x.trace.id, "response", a.atWork, "error", err.Error())
		return nil
	}
	a.unheard, a.handed, a.stake.holds, a.stake.rates = false, true, nil, 0
	return b
}

// backgrounded is the attempt that follows the response of another, with nothing of the
// request but what outlasts it. Its room is not lent: it may be kept for hours.
func (g *Gateway) backgrounded(a *attempt) *backgrounded {
	r, whole := &room{}, a.x
	whole.attempts++
	r.exchange = *whole
	x := &r.exchange
	in := *whole.in
	in.Header, in.Body, in.Length = whole.in.Header.Clone(0), nil, 0
	x.room, x.in, x.out, x.last = r, &in, nil, nil
	x.spool, x.doc, x.form, x.made, x.direct, x.passes = nil, nil, nil, nil, nil, nil
	x.match, x.tokens, x.holds = llm.Match{Endpoint: llm.CreateModelResponse, Body: llm.NoBody}, 0, nil
	x.replay = whole.replay.again()
	b := &backgrounded{id: a.atWork, soon: make(chan looked), ended: make(chan struct{})}
	b.attempt = &attempt{
		x: x, target: a.target, number: x.attempts - 1, started: a.started, spec: a.spec, account: a.account, values: maps.Clone(a.values), model: a.model,
	}
	*b.staked() = *a.stake
	b.stake.holds, b.stake.open = slices.Clone(a.stake.holds), false
	if whole.doc != nil {
		b.input = g.counter.Request(llm.CreateModelResponse, whole.doc.Source(), a.priceName()).Tokens
	}
	return b
}

// attend has a response followed by whoever does that.
func (g *Gateway) attend(b *backgrounded) {
	if b != nil && !g.followers.enter(b) {
		g.lose(b, record.Interrupted, "the gateway stopped before the response ended")
	}
}

// follow looks at a response until it has ended, or nobody will hear of its end.
func (g *Gateway) follow(ctx context.Context, b *backgrounded) {
	defer g.followers.leave(b)
	for pause := g.set.Background.Pause; ; pause = min(pause+pause/2, g.set.Background.MaxPause) {
		over := b.await(ctx, pause)
		last := ctx.Err() != nil
		end := g.look(ctx, b)
		if over != nil {
			close(over)
		}
		switch {
		case end:
			return
		case last:
			g.lose(b, record.Interrupted, "the gateway stopped before the response ended")
			return
		case b.refused >= refusedLooks:
			g.lose(b, record.Unreachable, "the provider does not tell of the response any more")
			return
		case g.Clock.Now().Sub(b.started) >= g.set.Background.Time:
			g.lose(b, record.Timeout, "the response did not end within BACKGROUND_RESPONSE_TIMEOUT")
			return
		}
	}
}

// await returns when it is time for a look. Who asked for it is told when that is over.
func (b *backgrounded) await(ctx context.Context, pause time.Duration) looked {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case over := <-b.soon:
		return over
	}
	return nil
}

// look asks the provider for the response, and puts it on record when it has ended.
func (g *Gateway) look(ctx context.Context, b *backgrounded) (end bool) {
	most := lookTime
	if ctx.Err() != nil {
		most = lastLookTime
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	g.followers.looks <- struct{}{}
	defer func() { <-g.followers.looks }()
	resp, err := g.call(ctx, b.attempt, nil)
	if err != nil {
		return false // it is asked again
	}
	body, err := readAll(resp, g.set.MaxReplyBytes)
	status := splice.Text(body, "status")
	switch {
	case err != nil || resp.Status >= 500 || resp.Status == 408 || resp.Status == 429:
		return false
	case resp.Status >= 300 || status == "":
		b.refused++
		return false
	}
	if b.refused = 0; working(status) {
		return false
	}
	g.heardOf(b, body, resp, status)
	return true
}

// heardOf puts a response that has ended on record.
func (g *Gateway) heardOf(b *backgrounded, body []byte, resp *transport.Response, status string) {
	r, size := b.log(), int64(len(body))
	r.Response = g.keep(resp.Header.Get("content-type"), body, size)
	r.Usage, r.ReplyModel = dialect.Usage(llm.CreateModelResponse, body, "")
	if b.status = resp.Status; status == "failed" {
		b.status, r.Error = 502, splice.Text(body, "error", "message")
		g.record(b.attempt, record.Failed)
		return
	}
	if r.BytesOut = size; !r.Usage.Reported { // it was cancelled
		r.Usage.InputTokens, r.Usage.OutputTokens = b.input, g.counter.Answer(llm.CreateModelResponse, body, b.priceName()).Tokens
	}
	g.record(b.attempt, record.OK)
}

// lose puts a response on record whose end nobody will hear of.
func (g *Gateway) lose(b *backgrounded, o record.Outcome, why string) {
	g.Log.Warn("a response in the background is followed no longer, and counts with the bound of its cost", "request_id", b.x.id, "trace_id", b.x.trace.id, "response", b.id, "reason", why)
	b.unheard, b.fault = true, fault.New(fault.UpstreamTimeout, why)
	b.status = b.fault.HTTPStatus()
	g.record(b.attempt, o)
}

// tellSoon has a response that is followed looked at at once: a caller heard of its end.
func (g *Gateway) tellSoon(x *exchange) {
	if b := g.followers.find(x.key.Principal.WorkspaceID, x.match.ID); b != nil {
		select {
		case b.soon <- make(looked):
		default: // it is being looked at
		}
	}
}

// tellBefore has a response that is followed looked at before a caller deletes it, since
// nobody can hear of its end afterwards.
func (g *Gateway) tellBefore(ctx context.Context, x *exchange) {
	if x.match.Endpoint != llm.DeleteModelResponse {
		return
	}
	b := g.followers.find(x.key.Principal.WorkspaceID, x.match.ID)
	if b == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lastLookTime)
	defer cancel()
	over := make(looked)
	select {
	case b.soon <- over:
	case <-b.ended:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// cancelsWork reports whether a path is that by which a response is cancelled. That costs
// nothing, and the answer tells once more what the response used.
func cancelsWork(path string) bool {
	id, ok := strings.CutPrefix(path, "/responses/")
	if !ok {
		return false
	}
	id, ok = strings.CutSuffix(id, "/cancel")
	return ok && id != "" && strings.Trim(id, idLetters) == ""
}

// idLetters are what ids of responses are made of.
const idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
