package dataplane

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sluice/internal/dialect/usage"
	"sluice/internal/gateway/metering"
	"sluice/internal/llm"
	"sluice/internal/provider/transport"
	"sluice/internal/record"
	"sluice/internal/splice"
)

const (
	maxConcurrentPolls = 64               // maximum at all providers
	pollTimeout        = 10 * time.Second // of one poll
	finalPollTimeout   = 2 * time.Second  // of all last polls together when the gateway stops
	maxRefusedPolls    = 5                // consecutive rejections after which polling stops
)

// FollowBackground polls responses until ctx ends. Then it polls each once more and records those
// that have not ended as interrupted, with their maximum cost. It must be called once.
func (g *Gateway) FollowBackground(ctx context.Context) error {
	pollCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var all sync.WaitGroup
	defer all.Wait()
	for stopping := false; !stopping; {
		select {
		case <-ctx.Done():
			stopping = true
			g.followers.close()
			time.AfterFunc(finalPollTimeout, end)
		case <-g.followers.bell:
		}
		for _, b := range g.followers.begun() {
			all.Go(func() { g.follow(ctx, pollCtx, b) })
		}
	}
	return nil
}

// enqueue passes a response to FollowBackground. After the gateway has stopped, it abandons the
// response.
func (g *Gateway) enqueue(b *backgrounded) {
	if b != nil && !g.followers.add(b) {
		g.abandonJob(b, record.Interrupted, "the gateway stopped before the response ended")
	}
}

// follow polls a response until it has ended or is abandoned. When ctx ends it polls once more,
// limited by pollCtx.
func (g *Gateway) follow(ctx, pollCtx context.Context, b *backgrounded) {
	defer g.followers.remove(b)
	defer g.failJob(b)
	for pause := g.set.Background.Pause; ; pause = min(pause+pause/2, g.set.Background.MaxPause) {
		finished := b.await(ctx, pause)
		last := ctx.Err() != nil
		end := g.pollOnce(pollCtx, b)
		if finished != nil {
			close(finished)
		}
		switch {
		case end:
			return
		case last:
			g.abandonJob(b, record.Interrupted, "the gateway stopped before the response ended")
			return
		case b.refused >= maxRefusedPolls:
			g.abandonJob(b, record.Unreachable, "the provider no longer reports the response")
			return
		case g.Clock.Now().Sub(b.started) >= g.set.Background.Time:
			g.abandonJob(b, record.Timeout, "the response did not end within BACKGROUND_RESPONSE_TIMEOUT")
			return
		}
	}
}

// await returns when the next poll is due. If the poll was requested, the caller must close the
// returned channel after it.
func (b *backgrounded) await(ctx context.Context, pause time.Duration) pollDone {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case finished := <-b.soon:
		return finished
	}
	return nil
}

// pollOnce requests the response from the provider. If the response has ended, it records it and
// returns true.
func (g *Gateway) pollOnce(ctx context.Context, b *backgrounded) (end bool) {
	select {
	case g.followers.polls <- struct{}{}:
		defer func() { <-g.followers.polls }()
	case <-ctx.Done():
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	resp, err := g.call(ctx, b.attempt, nil)
	b.firstByte = 0 // it would be that of this poll only
	if err != nil {
		return false // the next poll tries again
	}
	body, err := readAll(resp, g.set.MaxResponseBytes)
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
	g.recordResult(b, body, resp, status)
	return true
}

// recordResult records a response that has ended.
func (g *Gateway) recordResult(b *backgrounded, body []byte, resp *transport.Response, status string) {
	r, size := b.log(), int64(len(body))
	r.Response = g.truncateBody(resp.Header.Get("content-type"), body, size)
	r.Usage, r.ResponseModel = usage.Read(llm.CreateModelResponse, body, "")
	if b.status = resp.Status; status == "failed" {
		b.status, r.Error = 502, splice.Text(body, "error", "message")
		g.record(b.attempt, record.Failed)
		return
	}
	if r.BytesOut = size; !r.Usage.Reported { // it was cancelled
		r.Usage.InputTokens, r.Usage.OutputTokens = b.input, g.counter.ResponseBody(llm.CreateModelResponse, body, b.priceName()).Tokens
	}
	g.record(b.attempt, record.OK)
}

// abandonJob records a response whose end remains unknown, with its maximum cost.
func (g *Gateway) abandonJob(b *backgrounded, o record.Outcome, why string) {
	g.Log.Warn("gave up polling background response; charging its maximum cost", "request_id", b.x.id, "trace_id", b.x.trace.ID, "response", b.id, "reason", why)
	b.money.SetOutcome(metering.AbandonedBackground)
	b.status, b.log().Error = 504, why
	g.record(b.attempt, o)
}

// failJob records a response whose polling panicked.
func (g *Gateway) failJob(b *backgrounded) {
	if panicked := recover(); panicked != nil {
		g.Log.Error("panic while polling background response", "request_id", b.x.id, "trace_id", b.x.trace.ID, "error", fmt.Sprint(panicked), "stack", stack())
		g.abandonJob(b, record.Failed, "the gateway cannot poll the response")
	}
}
