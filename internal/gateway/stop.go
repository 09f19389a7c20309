package gateway

import (
	"context"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// Stop marks the gateway as stopping. Calls whose context ends from now on are ended by the
// gateway and not by their clients: their records state this, and callers that are still
// connected receive an error. Abandoned calls that are still being read end, too.
func (g *Gateway) Stop() {
	g.stopped.Store(true)
	g.abandoned.Cancel()
}

// AwaitNone returns when no request is in progress, or when ctx ends.
func (g *Gateway) AwaitNone(ctx context.Context) {
	await(ctx, func() bool { return g.Open() == 0 })
}

// AwaitBackground returns when no background response is polled, or when ctx ends.
func (g *Gateway) AwaitBackground(ctx context.Context) {
	await(ctx, func() bool { return g.background.Len() == 0 })
}

// FinishAsyncHooks waits until no asynchronous guardrail runs, or until ctx ends. Those that still run
// then are ended, and the log has them as skipped. Call it once, when no request is in progress.
func (g *Gateway) FinishAsyncHooks(ctx context.Context) { g.guardrails.async.finish(ctx) }

// awaitEvery is the polling interval of await.
const awaitEvery = 10 * time.Millisecond

func await(ctx context.Context, none func() bool) {
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for !none() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// stops reports whether the gateway itself ended a call.
func (d *deliverer) stops(ctx context.Context) bool { return ctx.Err() != nil && d.stopped.Load() }

// stopping returns the error for the callers of such calls.
func stopping() *fault.Error {
	return fault.New(fault.Overloaded, "the gateway is shutting down; send the request again").WithType("overloaded_error", "").WithRetry(time.Second)
}

// stopped ends a stream that the gateway cannot complete before it stops.
func (s *relayer) stopped(err error, end dialect.StreamEnd) error {
	s.a.fault = fault.Wrap(fault.ClientGone, err)
	s.record(record.ClientGone)
	s.unfinished(stopping(), end)
	return s.a.fault
}
