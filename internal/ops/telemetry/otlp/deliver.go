package otlp

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice/internal/kernel/background"
	"sluice/internal/ops/telemetry"
)

// How long one message is tried. Meanwhile nothing else is sent, and the journal advances without
// waiting.
const (
	firstPause    = time.Second
	lastPause     = 15 * time.Second
	maxRetryAfter = time.Minute // total of the pauses that a collector requests
	tries         = 6
)

// DeliveryCounters count what was sent and what was dropped.
type DeliveryCounters struct{ sent, dropped *telemetry.Counter }

// Reasons why data was not sent.
const (
	droppedRefused = "refused" // by the collector
	droppedFailed  = "failed"  // no collector accepted it within the time limit
	droppedMissed  = "missed"  // it was deleted from the journal before it was read
)

// NewDeliveryCounters registers the metrics. Call it once for a Registry.
func NewDeliveryCounters(r *telemetry.Registry) *DeliveryCounters {
	signals := telemetry.Label{Name: "signal", Values: []string{traces.name, metrics.name}}
	return &DeliveryCounters{
		sent: r.Counter("sluice_otlp_sent_total", "Spans and data points accepted by a collector, by signal.", signals),
		dropped: r.Counter("sluice_otlp_dropped_total", "Spans and data points not delivered to a collector, by signal and reason: refused, failed, or missed because the journal had already removed them.",
			signals, telemetry.Label{Name: "reason", Values: []string{droppedRefused, droppedFailed, droppedMissed}}),
	}
}

// sender sends the messages of a signal one after the other, each within a time limit.
type sender struct {
	client   *client
	signal   signal
	counters *DeliveryCounters
	log      *slog.Logger
	failing  bool // an outage is logged already
	cut      int  // items of messages that the end of the program interrupted
}

// deliver sends a message of n items and counts them. It ends with ctx; then the message counts
// as failed. response is an empty message into which the response is decoded, and rejected
// returns how many items it rejects, and why.
func (s *sender) deliver(ctx context.Context, message proto.Message, n int, response proto.Message, rejected func() (int64, string)) {
	err := s.try(ctx, message, response)
	if err != nil {
		reason := droppedFailed
		if r := (*refusal)(nil); errors.As(err, &r) && !r.again {
			reason = droppedRefused
		}
		if errors.Is(err, errResponse) { // it was accepted
			s.counters.sent.Add(float64(n), s.signal.name)
			return
		}
		s.counters.dropped.Add(float64(n), s.signal.name, reason)
		if ctx.Err() != nil {
			s.cut += n
		} else {
			s.logOutage(err, n)
		}
		return
	}
	s.failing = false
	refused, why := rejected()
	refused = min(max(refused, 0), int64(n))
	s.counters.sent.Add(float64(int64(n)-refused), s.signal.name)
	if refused > 0 {
		s.counters.dropped.Add(float64(refused), s.signal.name, droppedRefused)
		s.log.Warn("OTLP collector rejected part of a batch", "signal", s.signal.name, "items", refused, "reason", why)
	}
}

// end logs what was not sent at the end, because no metrics are read after it.
func (s *sender) end() {
	s.client.close()
	if s.cut > 0 {
		s.log.Warn("shutting down with undelivered OTLP data", "signal", s.signal.name, "items", s.cut)
	}
}

// logOutage logs once that a collector accepts nothing.
func (s *sender) logOutage(err error, n int) {
	if s.failing {
		return
	}
	s.failing = true
	s.log.Warn("collector unavailable; dropped data is counted in sluice_otlp_dropped_total", "signal", s.signal.name, "items", n, "error", err.Error())
}

// try sends a message repeatedly while that may help.
func (s *sender) try(ctx context.Context, message, response proto.Message) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := s.client.send(ctx, message, response)
		r := (*refusal)(nil)
		if err == nil || !errors.As(err, &r) || !r.again || n == tries || ctx.Err() != nil {
			return err
		}
		if background.Sleep(ctx, max(pause, min(r.after, maxRetryAfter))) != nil {
			return err
		}
		pause = min(2*pause, lastPause)
	}
}
