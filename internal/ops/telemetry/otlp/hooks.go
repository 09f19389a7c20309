package otlp

import (
	"encoding/json"
	"strconv"
	"time"

	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"sluice/internal/domain/record"
)

// recordedHooks are the results of guardrails in a record, without what may quote the judged text.
// Source: contract/dataplane.md 5.4.
type recordedHooks struct {
	Before []recordedHook `json:"before_request_hooks"`
	After  []recordedHook `json:"after_request_hooks"`
}

type recordedHook struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"` // "guardrail" or "mutator"
	Verdict   bool            `json:"verdict"`
	Deny      bool            `json:"deny"`
	Skipped   bool            `json:"skipped"`
	Async     bool            `json:"async"`
	Version   string          `json:"guardrail_version_id"`
	TookMS    int64           `json:"execution_time"`
	CreatedAt time.Time       `json:"created_at"`
	Checks    []recordedCheck `json:"checks"`
}

type recordedCheck struct {
	ID        string         `json:"id"`
	Verdict   bool           `json:"verdict"`
	Error     map[string]any `json:"error"`
	TookMS    int64          `json:"execution_time"`
	CreatedAt time.Time      `json:"created_at"`
}

// judged is the attempt that hooks judged.
type judged struct {
	trace   [16]byte
	span    [8]byte
	started time.Time
	results string // name of the results: the id of the record or of the late entry
}

// attemptHookSpans returns the spans of the hooks in the record of an attempt.
func attemptHookSpans(a *record.Attempt) []*trace.Span {
	if a.Hooks == "" {
		return nil
	}
	return hookSpans(&judged{a.W3CTrace(), a.W3CSpan(), a.Started, a.ID}, a.Hooks)
}

// lateHookSpans returns the spans of hooks that finished after the record of their attempt.
func lateHookSpans(h *record.LateHooks) []*trace.Span {
	return hookSpans(&judged{record.W3CTrace(h.TraceID), h.W3CSpan(), h.Started, h.Entry}, h.Hooks)
}

// hookSpans returns a span for each hook, as a child of the span of the attempt, with an event for
// each check. Unreadable results have none.
func hookSpans(j *judged, text string) (spans []*trace.Span) {
	var all recordedHooks
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	for i := range all.Before {
		spans = append(spans, j.hookSpan(&all.Before[i], "input", i))
	}
	for i := range all.After {
		spans = append(spans, j.hookSpan(&all.After[i], "output", i))
	}
	return spans
}

func (j *judged) hookSpan(h *recordedHook, phase string, position int) *trace.Span {
	id := record.W3CSpan("hook " + j.results + " " + phase + " " + strconv.Itoa(position))
	start := h.CreatedAt
	if start.IsZero() { // it was skipped
		start = j.started
	}
	s := &trace.Span{
		TraceId: j.trace[:], SpanId: id[:], ParentSpanId: j.span[:], Name: h.Type + " " + h.ID, Kind: trace.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: uint64(start.UnixNano()), EndTimeUnixNano: uint64(start.Add(milliseconds(h.TookMS)).UnixNano()),
	}
	var to attributes
	to.text(prefix+"guardrail.id", h.ID)
	to.text(prefix+"guardrail.version", h.Version)
	to.text(prefix+"guardrail.phase", phase)
	to.text(prefix+"guardrail.verdict", verdictOf(h.Verdict, h.Skipped, false))
	to.addBool(prefix+"guardrail.deny", h.Deny)
	to.addBool(prefix+"guardrail.async", h.Async)
	s.Attributes = to
	for i := range h.Checks {
		s.Events = append(s.Events, h.Checks[i].event())
	}
	return s
}

// event returns the event of a check, at its end.
func (c *recordedCheck) event() *trace.Span_Event {
	var to attributes
	to.text(prefix+"guardrail.check", c.ID)
	to.text(prefix+"guardrail.verdict", verdictOf(c.Verdict, false, c.Error != nil))
	to.real(prefix+"guardrail.seconds", milliseconds(c.TookMS).Seconds())
	return &trace.Span_Event{Name: prefix + "guardrail.check", TimeUnixNano: uint64(c.CreatedAt.Add(milliseconds(c.TookMS)).UnixNano()), Attributes: to}
}

// verdictOf returns a verdict as the metrics name it: "passed", "failed" or "error"; or "skipped".
func verdictOf(passed, skipped, failing bool) string {
	switch {
	case skipped:
		return "skipped"
	case failing:
		return "error"
	case passed:
		return "passed"
	}
	return "failed"
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
