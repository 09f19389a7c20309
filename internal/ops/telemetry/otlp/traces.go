package otlp

import (
	"context"
	"errors"
	"fmt"
	"time"

	collecttrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/background"
	"sluice/internal/ops/telemetry/genai"
)

// Tail reads log records as they arrive; *journal.Tail implements it.
type Tail interface {
	End() record.Position
	Read(from record.Position, visit func(record.Entry) bool) (next record.Position, missed uint64)
	Wait(ctx context.Context, at record.Position) error
}

// usualWait is how long a span waits to be batched. The request log and the spend totals read the
// journal less often, and what they have read may be deleted. This wait is too short for a
// journal file to be created and deleted between two reads.
const usualWait = 250 * time.Millisecond

// TraceOptions configure the export of spans. Interval is usually a quarter of a second.
type TraceOptions struct {
	Options
	Content bool // bodies too, up to 16 KiB of each
}

// Traces sends a span for each attempt of a request that this gateway served, after the attempt
// ended, and one for each of its guardrails.
type Traces struct {
	o        TraceOptions
	sender   *sender
	resource *trace.ResourceSpans // with everything except the spans
	requests *requests
	position record.Position
	batch    []*trace.Span
}

// Limits of one message, and of the last ones. By default a collector accepts 4 MiB over gRPC,
// and somewhat more over HTTP; it rejects larger messages on every try. The last span of a
// message may exceed maxBytes, by its two bodies and a little.
// Source: go.opentelemetry.io/collector/config/configgrpc, max_recv_msg_size_mib.
const (
	maxSpans   = 512
	maxBytes   = 3 << 20
	drainLimit = 5 * time.Second
)

// NewTraces does not connect. The error names the part of the target or resource that is invalid.
// It sends spans of attempts that end from now on.
func NewTraces(o TraceOptions) (*Traces, error) {
	if o.Interval == 0 {
		o.Interval = usualWait
	}
	about, err := o.Resource.message()
	if err != nil {
		return nil, fmt.Errorf("resource attributes: %w", err)
	}
	c, err := newClient(o.Target, traces, o.Clock)
	if err != nil {
		return nil, err
	}
	return &Traces{
		o: o, sender: &sender{client: c, signal: traces, counters: o.Counters, log: o.Log}, requests: newRequests(), position: o.Tail.End(),
		resource: &trace.ResourceSpans{Resource: about, SchemaUrl: genai.SchemaURL},
	}, nil
}

// Run sends until ctx ends, then the remaining spans, for at most five seconds. It never fails:
// an unavailable collector loses spans but does not stop the gateway.
func (t *Traces) Run(ctx context.Context) error {
	defer t.sender.end()
	work, stop := withGracePeriod(ctx, drainLimit)
	defer stop()
	for t.next(ctx) {
		t.sendAll(work)
	}
	t.sendAll(work)
	t.batch = append(t.batch, t.requests.due(t.o.Clock.Now(), true)...)
	t.flush(work)
	return nil
}

// withGracePeriod returns a context that ends a while after ctx, so that a message in progress is
// not interrupted.
func withGracePeriod(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = background.Sleep(work, d) // it also ends with work
		cancel()
	})
	return work, func() { stop(); cancel() }
}

// next waits until there is something to send; it returns false when ctx has ended.
func (t *Traces) next(ctx context.Context) bool {
	wake, stop := ctx, context.CancelFunc(func() {})
	if len(t.requests.open) > 0 { // some of them become due
		wake, stop = context.WithTimeout(ctx, quiet/3)
	}
	defer stop()
	if err := t.o.Tail.Wait(wake, t.position); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return background.Sleep(ctx, t.o.Interval) == nil
}

// sendAll sends the content of the journal, message by message.
func (t *Traces) sendAll(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		more = t.fill()
		if !more {
			t.batch = append(t.batch, t.requests.due(t.o.Clock.Now(), false)...)
		}
		t.flush(ctx)
	}
}

// fill reads attempts into the message; more reports that it reached the maximum.
func (t *Traces) fill() (more bool) {
	next, missed := t.o.Tail.Read(t.position, func(e record.Entry) bool {
		switch a := e.Attempt; {
		case a != nil && a.Source.Served():
			t.batch = append(t.batch, t.requests.add(a, attemptSpan(a, t.o.Content))...)
			t.batch = append(t.batch, attemptHookSpans(a)...)
		case e.Hooks != nil:
			t.batch = append(t.batch, lateHookSpans(e.Hooks)...)
		}
		return len(t.batch) < maxSpans
	})
	t.position = next
	if missed > 0 {
		t.o.Counters.dropped.Add(float64(missed), traces.name, droppedMissed)
	}
	return len(t.batch) >= maxSpans
}

// flush sends what was read, in as many messages as needed.
func (t *Traces) flush(ctx context.Context) {
	for n, size := 0, 0; n < len(t.batch); {
		size += proto.Size(t.batch[n])
		if n++; n == maxSpans || n == len(t.batch) || size >= maxBytes {
			t.send(ctx, t.batch[:n])
			t.batch, n, size = t.batch[n:], 0, 0
		}
	}
	t.batch = nil
}

func (t *Traces) send(ctx context.Context, spans []*trace.Span) {
	t.resource.ScopeSpans = []*trace.ScopeSpans{{Scope: &common.InstrumentationScope{Name: "sluice"}, Spans: spans}}
	var response collecttrace.ExportTraceServiceResponse
	t.sender.deliver(ctx, &collecttrace.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{t.resource}}, len(spans), &response, func() (int64, string) {
		p := response.GetPartialSuccess()
		return p.GetRejectedSpans(), p.GetErrorMessage()
	})
}
