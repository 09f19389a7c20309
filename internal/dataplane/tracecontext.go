package dataplane

import (
	"encoding/hex"

	"sluice/internal/record"
	"sluice/internal/wire"
)

// The headers of W3C Trace Context. Source: https://www.w3.org/TR/trace-context/, sections
// 3.2 and 3.3.
const (
	traceparentHeader = "traceparent"
	tracestateHeader  = "tracestate"

	tracestateMax = 512 // characters that must be forwarded; a longer value is dropped
	sampledFlag   = "01"
)

// traceContext adds the trace to the provider's headers, with the span of the attempt as the
// parent of the provider's spans. It forwards the caller's flags and tracestate when the trace is
// the caller's. It does not add baggage, which is metadata for the log.
func (g *Gateway) traceContext(h *wire.Header, a *attempt) {
	if !g.set.TraceContext {
		return
	}
	x := a.x
	trace, span := record.W3CTrace(x.trace.id), record.W3CSpanOf(a.recordID(), x.trace.span, int32(a.number))
	flags := sampledFlag
	id, _, came := parseTraceparent(x.ctl.traceparent)
	same := came && record.W3CTrace(id) == trace
	if same {
		flags = x.ctl.traceparent[53:]
	}
	h.Set(traceparentHeader, "00-"+hex.EncodeToString(trace[:])+"-"+hex.EncodeToString(span[:])+"-"+flags)
	if state := x.req.Header.Get(tracestateHeader); same && state != "" && len(state) <= tracestateMax {
		h.Set(tracestateHeader, state)
	} else {
		h.Del(tracestateHeader)
	}
}
