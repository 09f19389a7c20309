package dataplane

import (
	"context"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/record"
)

// Stop says that calls whose context ends from now on are ended by the gateway, because it
// stops, and not by clients that left: their records say so, and who can still be told is.
// What is read on although its caller left ends, too.
func (g *Gateway) Stop() {
	g.stopped.Store(true)
	g.CancelAbandoned()
}

// AwaitNone returns when no request is being served, or ctx ends.
func (g *Gateway) AwaitNone(ctx context.Context) {
	await(ctx, func() bool { return g.Open() == 0 })
}

// AwaitBackground returns when no response is followed any more, or ctx ends.
func (g *Gateway) AwaitBackground(ctx context.Context) {
	await(ctx, func() bool { return g.Background() == 0 })
}

// awaitEvery is how often await looks.
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

// stops reports whether it is the gateway that ended a call.
func (g *Gateway) stops(ctx context.Context) bool { return ctx.Err() != nil && g.stopped.Load() }

// stopping is what those callers are told.
func stopping() *fault.Error {
	return fault.New(fault.Overloaded, "the gateway is shutting down; send the request again").WithType("overloaded_error", "").WithRetry(retrySoon)
}

// farewellTime is how long both sides of a conversation have to answer that it is over. It
// is below the second that is left of a call when the time to drain is over.
const farewellTime = 500 * time.Millisecond

// farewell tells both sides of a conversation that the gateway goes away, and returns when
// they have answered or the time is up. Source: RFC 6455 section 7.4.1.
func farewell(down, up Socket) {
	notified := make(chan struct{}, 2)
	for _, side := range [...]Socket{down, up} {
		go func() {
			_ = side.Close(1001, "the gateway is shutting down") // it may be gone
			notified <- struct{}{}
		}()
	}
	late := time.After(farewellTime)
	for range cap(notified) {
		select {
		case <-notified:
		case <-late:
			return
		}
	}
}

// stopped ends a stream that the gateway has no time left for.
func (s *relayer) stopped(err error, end dialect.StreamEnd) error {
	s.a.fault = fault.Wrap(fault.ClientGone, err)
	s.record(record.ClientGone)
	s.unfinished(stopping(), end)
	return s.a.fault
}
