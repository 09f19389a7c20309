package background

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/jsonedit"
)

const (
	maxConcurrentPolls = 64               // maximum at all providers
	pollTimeout        = 10 * time.Second // of one poll
	finalPollTimeout   = 2 * time.Second  // of all last polls together when the gateway stops
	maxRefusedPolls    = 5                // consecutive rejections after which polling stops
)

// Run polls responses until ctx ends. Then it polls each once more and records those that have not
// ended as interrupted, with their maximum cost. It must be called once.
func (p *Poller) Run(ctx context.Context) error {
	pollCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var all sync.WaitGroup
	defer all.Wait()
	for stopping := false; !stopping; {
		select {
		case <-ctx.Done():
			stopping = true
			p.close()
			time.AfterFunc(finalPollTimeout, end)
		case <-p.bell:
		}
		for _, b := range p.begun() {
			all.Go(func() { p.follow(ctx, pollCtx, b) })
		}
	}
	return nil
}

// follow polls a response until it has ended or is abandoned. When ctx ends it polls once more,
// limited by pollCtx.
func (p *Poller) follow(ctx, pollCtx context.Context, b *Response) {
	defer p.remove(b)
	defer p.recoverFrom(b)
	for pause := p.limits.Pause; ; pause = min(pause+pause/2, p.limits.MaxPause) {
		finished := b.await(ctx, pause)
		last := ctx.Err() != nil
		end := p.pollOnce(pollCtx, b)
		if finished != nil {
			close(finished)
		}
		switch {
		case end:
			return
		case last:
			p.abandon(b, record.Interrupted, stoppedReason)
			return
		case b.refused >= maxRefusedPolls:
			p.abandon(b, record.Unreachable, "the provider no longer reports the response")
			return
		case p.clock.Now().Sub(b.Started) >= p.limits.Time:
			p.abandon(b, record.Timeout, "the response did not end within BACKGROUND_RESPONSE_TIMEOUT")
			return
		}
	}
}

// stoppedReason is the reason why a response is abandoned when the gateway stops.
const stoppedReason = "the gateway stopped before the response ended"

// pollOnce requests the response from the provider. If the response has ended, it records it and
// returns true.
func (p *Poller) pollOnce(ctx context.Context, b *Response) (end bool) {
	select {
	case p.polls <- struct{}{}:
		defer func() { <-p.polls }()
	case <-ctx.Done():
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	got, err := b.Call.Poll(ctx)
	if err != nil || got.Status >= 500 || got.Status == 408 || got.Status == 429 {
		return false // the next poll tries again
	}
	status := jsonedit.Text(got.Body, "status")
	if got.Status >= 300 || status == "" {
		b.refused++
		return false
	}
	if b.refused = 0; IsWorking(status) {
		return false
	}
	b.Call.Record(got, status)
	return true
}

// abandon records a response whose end remains unknown, with its maximum cost.
func (p *Poller) abandon(b *Response, o record.Outcome, why string) {
	p.log.Warn("gave up polling background response; charging its maximum cost", "request_id", b.RequestID, "trace_id", b.TraceID, "response", b.ID, "reason", why)
	b.Call.Abandon(o, why)
}

// recoverFrom records a response whose polling panicked.
func (p *Poller) recoverFrom(b *Response) {
	if panicked := recover(); panicked != nil {
		p.log.Error("panic while polling background response", "request_id", b.RequestID, "trace_id", b.TraceID, "error", fmt.Sprint(panicked), "stack", string(debug.Stack()))
		p.abandon(b, record.Failed, "the gateway cannot poll the response")
	}
}
