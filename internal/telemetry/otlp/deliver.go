package otlp

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice/internal/background"
	"sluice/internal/telemetry"
)

// How long one message is tried. While that lasts nothing else is sent, and the journal
// goes on without us.
const (
	firstPause    = time.Second
	lastPause     = 15 * time.Second
	maxRetryAfter = time.Minute // of the pauses that a collector asks for
	tries         = 6
)

// DeliveryCounters count what was sent and what was not.
type DeliveryCounters struct{ sent, dropped *telemetry.Counter }

// Why something was not sent.
const (
	droppedRefused = "refused" // by the collector
	droppedFailed  = "failed"  // no collector took it within the bound
	droppedMissed  = "missed"  // it was gone from the journal before it was read
)

// NewDeliveryCounters registers the figures; once in a Registry.
func NewDeliveryCounters(r *telemetry.Registry) *DeliveryCounters {
	signals := telemetry.Label{Name: "signal", Values: []string{traces.name, metrics.name}}
	return &DeliveryCounters{
		sent: r.Counter("sluice_otlp_sent_total", "Spans and data points accepted by a collector, by signal.", signals),
		dropped: r.Counter("sluice_otlp_dropped_total", "Spans and data points not delivered to a collector, by signal and reason: refused, failed, or missed because the journal had already removed them.",
			signals, telemetry.Label{Name: "reason", Values: []string{droppedRefused, droppedFailed, droppedMissed}}),
	}
}

// sender sends the messages of a signal one after the other, each within a bound.
type sender struct {
	client   *client
	signal   signal
	counters *DeliveryCounters
	log      *slog.Logger
	failing  bool // said so in the log already
	cut      int  // items of messages that the end of the program cut off
}

// deliver sends a message of n items and counts them. It ends with ctx, in which case the
// message counts as failed. answer is a fresh message to read the answer into, and
// rejected says how many items it refuses, and why.
func (s *sender) deliver(ctx context.Context, message proto.Message, n int, response proto.Message, rejected func() (int64, string)) {
	err := s.try(ctx, message, response)
	if err != nil {
		reason := droppedFailed
		if r := (*refusal)(nil); errors.As(err, &r) && !r.again {
			reason = droppedRefused
		}
		if errors.Is(err, errResponse) { // it was taken
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

// end says what was not sent any more: nobody asks for figures behind it.
func (s *sender) end() {
	s.client.close()
	if s.cut > 0 {
		s.log.Warn("shutting down with undelivered OTLP data", "signal", s.signal.name, "items", s.cut)
	}
}

// logOutage says once that a collector takes nothing.
func (s *sender) logOutage(err error, n int) {
	if s.failing {
		return
	}
	s.failing = true
	s.log.Warn("collector unavailable; dropped data is counted in sluice_otlp_dropped_total", "signal", s.signal.name, "items", n, "error", err.Error())
}

// try repeats a message while that may help.
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
