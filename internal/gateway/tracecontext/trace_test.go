package tracecontext_test

import (
	"strings"
	"testing"

	"sluice/internal/gateway/call"
	"sluice/internal/gateway/tracecontext"
	"sluice/internal/kernel/wire"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + traceID + "-00f067aa0ba902b7-00"
)

func TestRead_PrefersTheGatewaysHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options call.Options
		want    call.Trace
	}{
		"no headers":        {call.Options{}, call.Trace{ID: "request"}},
		"own headers":       {call.Options{TraceID: "t", SpanID: "s", ParentSpan: "p", SpanName: "n", Traceparent: traceparent}, call.Trace{ID: "t", Span: "s", Parent: "p", Name: "n"}},
		"traceparent":       {call.Options{Traceparent: traceparent}, call.Trace{ID: traceID, Parent: "00f067aa0ba902b7", Name: "POST /v1/x"}},
		"zero trace id":     {call.Options{Traceparent: "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-00"}, call.Trace{ID: "request"}},
		"id that is long":   {call.Options{TraceID: strings.Repeat("x", 257)}, call.Trace{ID: "request"}},
		"id with a newline": {call.Options{TraceID: "a\nb"}, call.Trace{ID: "request"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tracecontext.Read(&c.options, "POST", "/v1/x", "request"); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestSetHeaders_ForwardsFlagsAndStateOfTheCallersTrace(t *testing.T) {
	t.Parallel()
	from := wire.Header{{Name: "tracestate", Value: "vendor=1"}}
	for name, c := range map[string]struct {
		options      call.Options
		flags, state string
	}{
		"the caller's trace": {call.Options{Traceparent: traceparent}, "00", "vendor=1"},
		"another trace":      {call.Options{Traceparent: traceparent, TraceID: "0191f3a0-0000-7000-8000-000000000001"}, "01", ""},
		"no trace":           {call.Options{}, "01", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace := tracecontext.Read(&c.options, "POST", "/v1/x", "0191f3a0-0000-7000-8000-000000000002")
			var h wire.Header
			tracecontext.SetHeaders(&h, &trace, "0191f3a0-0000-7000-8000-000000000002", 0, from, &c.options)
			if got := h.Get("traceparent"); len(got) != len(traceparent) || got[53:] != c.flags {
				t.Errorf("got traceparent %q, want flags %s", got, c.flags)
			}
			if got := h.Get("tracestate"); got != c.state {
				t.Errorf("got tracestate %q, want %q", got, c.state)
			}
		})
	}
}
