package otlp

import (
	"time"

	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"sluice/internal/domain/record"
	"sluice/internal/ops/telemetry/genai"
)

// Limits of the open requests in memory.
const (
	maxOpen    = 1000
	quiet      = 30 * time.Second // time after which a request counts as ended
	remembered = 10 * time.Minute // time in which further attempts become children of the same span
)

// requests are those with a failed attempt, so that another attempt may follow: only then do they
// have a span, the parent of their attempts' spans. No record marks the last attempt of a
// request. So the first failed attempt is held until there is another, and the span of the
// request is created when an attempt succeeded, or none arrived for a while.
type requests struct {
	open map[string]*request // by id
}

// request contains the data of a request's span.
type request struct {
	span  *trace.Span
	held  *trace.Span // of the first attempt, until there is another
	ended time.Time   // of the last attempt
	sent  bool        // span was sent
}

func newRequests() *requests { return &requests{open: make(map[string]*request)} }

// add adds the span of an attempt and returns the spans that are ready to be sent.
func (r *requests) add(a *record.Attempt, span *trace.Span) (ready []*trace.Span) {
	q := r.open[a.RequestID]
	switch {
	case q == nil && (a.Number == 0 && isFinal(a.Outcome) || len(r.open) >= maxOpen):
		return []*trace.Span{span}
	case q == nil:
		q = &request{span: requestSpan(a)}
		r.open[a.RequestID] = q
		if a.Number == 0 {
			q.held = span
			q.cover(a)
			return nil
		}
	case q.held != nil:
		ready = append(ready, q.attachToRequest(q.held))
		q.held = nil
	}
	q.cover(a)
	ready = append(ready, q.attachToRequest(span))
	if isFinal(a.Outcome) && !q.sent {
		q.sent = true
		ready = append(ready, q.span)
	}
	return ready
}

// attachToRequest makes the span of an attempt a child of the request's span.
func (q *request) attachToRequest(span *trace.Span) *trace.Span {
	span.ParentSpanId = q.span.SpanId
	return span
}

// due returns the spans for which no further attempt arrived in time, or all waiting spans if all
// is set. It also removes old requests.
func (r *requests) due(now time.Time, all bool) (ready []*trace.Span) {
	for id, q := range r.open {
		silent := now.Sub(q.ended)
		if !all && silent < quiet {
			continue
		}
		switch {
		case q.held != nil: // it was the only attempt
			ready = append(ready, q.held)
			delete(r.open, id)
			continue
		case !q.sent:
			q.sent = true
			ready = append(ready, q.span)
		}
		if all || silent >= remembered {
			delete(r.open, id)
		}
	}
	return ready
}

// isFinal reports whether no attempt can follow one with this outcome.
func isFinal(o record.Outcome) bool {
	return o == record.OK || o == record.ClientGone || o == record.Interrupted
}

// requestSpan returns the parent span of the attempts of a request.
func requestSpan(a *record.Attempt) *trace.Span {
	id, spanID := a.W3CTrace(), a.W3CRequest()
	s := &trace.Span{
		TraceId: id[:], SpanId: spanID[:], Name: a.Method + " " + a.Path, Kind: trace.Span_SPAN_KIND_SERVER,
		StartTimeUnixNano: uint64(a.Started.UnixNano()),
	}
	if parent, ok := a.W3CParent(); ok {
		s.ParentSpanId = parent[:]
	}
	var to attributes
	to.text(prefix+"request.id", a.RequestID)
	to.text(prefix+"trace.id", a.TraceID)
	to.text(prefix+"workspace.id", a.WorkspaceID)
	to.text(genai.OperationName, genai.Operation(a.Endpoint))
	to.text(genai.HTTPMethod, a.Method)
	to.text("url.path", a.Path)
	to.text("client.address", a.Remote)
	s.Attributes = to
	return s
}

// cover extends the span over an attempt, and sets its status.
func (q *request) cover(a *record.Attempt) {
	end := a.Started.Add(a.Duration)
	if end.After(q.ended) {
		q.ended = end
	}
	q.span.EndTimeUnixNano = max(q.span.EndTimeUnixNano, uint64(end.UnixNano()))
	q.span.StartTimeUnixNano = min(q.span.StartTimeUnixNano, uint64(a.Started.UnixNano()))
	q.span.Status = nil
	if a.Outcome != record.OK {
		q.span.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR}
	}
}
