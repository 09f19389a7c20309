package spans

import (
	"cmp"
	"fmt"
	"math"
	"time"

	collecttrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/ops/telemetry/genai"
)

// Limits of the content of a message.
const (
	maxItems  = 10_000 // spans, or log records: collectors send 8,192 at a time by default
	maxEvents = 128    // of a span, also of links
	maxFuture = 24 * time.Hour
)

// spans creates a record for each span.
func (v *Receiver) spans(t *collecttrace.ExportTraceServiceRequest, m *message, source *origin) ([]entry, error) {
	var out []entry
	for i, rs := range t.GetResourceSpans() {
		about, err := readResource(rs.GetResource(), fmt.Sprintf("resource_spans[%d].resource", i))
		if err != nil {
			return nil, err
		}
		for j, ss := range rs.GetScopeSpans() {
			for k, s := range ss.GetSpans() {
				path := fmt.Sprintf("resource_spans[%d].scope_spans[%d].spans[%d]", i, j, k)
				if len(out) == maxItems {
					return nil, tooMany(path)
				}
				e, err := v.span(s, about, m, source, path)
				if err != nil {
					return nil, err
				}
				out = append(out, e)
			}
		}
	}
	return out, nil
}

func tooMany(path string) error {
	return fault.Newf(fault.InvalidParameter, "a message must not have more than %d spans or log records", maxItems).WithParam(path)
}

// span creates the record of one span.
func (v *Receiver) span(s *trace.Span, about values, m *message, source *origin, path string) (e entry, err error) {
	with, err := readValues(s.GetAttributes(), path+".attributes")
	if err != nil {
		return e, err
	}
	if len(s.GetName()) > maxName || len(s.GetEvents()) > maxEvents || len(s.GetLinks()) > maxEvents {
		return e, fault.Newf(fault.InvalidParameter, "span names must not exceed %d bytes, and spans must not have more than %d events and links", maxName, maxEvents).WithParam(path)
	}
	a := source.record(about, with)
	if err := m.placeInTrace(a, s, path); err != nil {
		return e, err
	}
	if a.Started, a.Duration, err = source.times(s, path); err != nil {
		return e, err
	}
	a.SpanName = s.GetName()
	v.setOutcome(a, s, with)
	v.model(a, with)
	events, err := eventsOf(s, path)
	if err != nil {
		return e, err
	}
	return entry{a, map[string]any{
		"name": s.GetName(), "kind": kinds[s.GetKind()], "attributes": with, "resource": about, "events": events,
		"status": map[string]any{"error": a.Outcome != record.OK, "message": s.GetStatus().GetMessage()},
	}}, nil
}

// placeInTrace reads the ids.
func (m *message) placeInTrace(a *record.Attempt, s *trace.Span, path string) error {
	var hasTrace, hasSpan, above bool
	a.TraceID, hasTrace = m.id(s.GetTraceId(), 16)
	a.SpanID, hasSpan = m.id(s.GetSpanId(), 8)
	a.ParentSpan, above = m.id(s.GetParentSpanId(), 8)
	above = above || a.ParentSpan == "" // some clients write zeros for an absent id
	if !hasTrace || !hasSpan || !above || a.TraceID == "" || a.SpanID == "" {
		return fault.New(fault.InvalidParameter, "a trace id must have 16 bytes, a span id 8, and neither may be zero; in JSON they are hex digits").WithParam(path)
	}
	return nil
}

// times reads when a span started and how long it took.
func (o *origin) times(s *trace.Span, path string) (began time.Time, took time.Duration, err error) {
	from, to := s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano()
	if from == 0 || from > math.MaxInt64 || to > math.MaxInt64 || to < from || from > uint64(o.now.Add(maxFuture).UnixNano()) {
		return began, 0, fault.New(fault.InvalidParameter, "a span must not end before its start or start more than a day ahead; times are nanoseconds since 1970").WithParam(path + ".start_time_unix_nano")
	}
	return time.Unix(0, int64(from)).UTC(), time.Duration(to - from), nil
}

// setOutcome sets how a span ended. Without an HTTP status a failure counts as 500.
func (v *Receiver) setOutcome(a *record.Attempt, s *trace.Span, with values) {
	a.Outcome, a.Status = record.OK, 200
	status, hasStatus := with.count(genai.HTTPStatus)
	hasStatus = hasStatus && status >= 100 && status <= 599
	if s.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR || hasStatus && status >= 400 {
		a.Outcome, a.Status = record.Failed, 500
		a.Error = with.text(genai.ErrorType)
		a.Error = a.Error[:min(len(a.Error), maxName)]
	}
	if hasStatus {
		a.Status = int32(status)
	}
	a.Upstream = a.Status
}

// model reads the attributes of the conventions for generative AI. A span that is not a model
// call remains a plain span.
func (v *Receiver) model(a *record.Attempt, with values) {
	provider, operation := with.text(genai.ProviderName, genai.System), with.text(genai.OperationName)
	requested, answered := with.text(genai.RequestModel), with.text(genai.ResponseModel)
	if operation == "" && requested+answered != "" {
		operation = "chat"
	}
	ep, ok := genai.Endpoint(operation)
	if !ok || len(provider) > maxName || len(requested) > maxName || len(answered) > maxName {
		return
	}
	a.Endpoint, a.Provider = ep, genai.ProviderID(provider)
	a.Model, a.ResponseModel = cmp.Or(requested, answered), answered
	var hasInput, out bool
	u := &a.Usage
	u.InputTokens, hasInput = with.count(genai.InputTokens, genai.PromptTokens)
	u.OutputTokens, out = with.count(genai.OutputTokens, genai.CompletionTokens)
	u.CachedTokens, _ = with.count(genai.CacheReadTokens)
	u.CacheWriteTokens, _ = with.count(genai.CacheWriteTokens)
	u.Reported = hasInput || out
	if u.Reported {
		u.TotalTokens = u.InputTokens + u.OutputTokens
		a.Spend = v.price(a)
	}
}

var kinds = map[trace.Span_SpanKind]string{
	trace.Span_SPAN_KIND_INTERNAL: "internal", trace.Span_SPAN_KIND_SERVER: "server", trace.Span_SPAN_KIND_CLIENT: "client",
	trace.Span_SPAN_KIND_PRODUCER: "producer", trace.Span_SPAN_KIND_CONSUMER: "consumer",
}

// eventsOf returns the events of a span in their stored form.
func eventsOf(s *trace.Span, path string) ([]map[string]any, error) {
	out := make([]map[string]any, 0, len(s.GetEvents()))
	for i, e := range s.GetEvents() {
		with, err := readValues(e.GetAttributes(), fmt.Sprintf("%s.events[%d].attributes", path, i))
		if err != nil {
			return nil, err
		}
		if len(e.GetName()) > maxName {
			return nil, fault.Newf(fault.InvalidParameter, "event names must not exceed %d bytes", maxName).WithParam(path)
		}
		out = append(out, map[string]any{"name": e.GetName(), "time_unix_nano": e.GetTimeUnixNano(), "attributes": with})
	}
	return out, nil
}
