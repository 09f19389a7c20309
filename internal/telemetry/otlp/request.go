package otlp

import (
	"time"

	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"sluice/internal/record"
	"sluice/internal/telemetry/genai"
)

// Bounds of what is remembered of requests that may go on.
const (
	maxOpen    = 1000
	quiet      = 30 * time.Second // after which a request counts as ended
	remembered = 10 * time.Minute // further attempts hang below the same span
)

// requests are those of which an attempt failed, so that another may follow: only then
// do they have a span of their own, above those of their attempts. No record says that it
// is the last of its request. So the first failed attempt is held until there is another,
// and the span of the request is made when an attempt ended well, or none came for a while.
type requests struct {
	open map[string]*request // by id
}

// request is what its span is made of.
type request struct {
	span  *trace.Span
	held  *trace.Span // of the first attempt, until there is another
	ended time.Time   // of the last attempt
	sent  bool        // span was
}

func newRequests() *requests { return &requests{open: make(map[string]*request)} }

// add takes the span of an attempt and gives those that are ready to be sent.
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

// attachToRequest hangs the span of an attempt below that of its request.
func (q *request) attachToRequest(span *trace.Span) *trace.Span {
	span.ParentSpanId = q.span.SpanId
	return span
}

// due gives the spans that waited for further attempts in vain, all of them if asked, and
// forgets old requests.
func (r *requests) due(now time.Time, all bool) (ready []*trace.Span) {
	for id, q := range r.open {
		silent := now.Sub(q.ended)
		if !all && silent < quiet {
			continue
		}
		switch {
		case q.held != nil: // it was the only one
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

// isFinal reports whether no other attempt follows one that ended so.
func isFinal(o record.Outcome) bool {
	return o == record.OK || o == record.ClientGone || o == record.Interrupted
}

// requestSpan is the span above the attempts of a request.
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

// cover stretches the span over an attempt, and gives it its status.
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
