package tracecontext

import (
	"encoding/hex"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/wire"
)

// The headers of W3C Trace Context. Source: https://www.w3.org/TR/trace-context/, sections
// 3.2 and 3.3.
const (
	traceparentHeader = "traceparent"
	tracestateHeader  = "tracestate"

	tracestateMax = 512 // characters that must be forwarded; a longer value is dropped
	sampledFlag   = "01"
)

// SetHeaders adds the trace of an attempt to the provider's headers h, with the span of the attempt
// as the parent of the provider's spans. recordID and number are those of the attempt, from and o
// the headers of the client. It forwards the caller's flags and tracestate when the trace is the
// caller's. It does not add baggage, which is metadata for the log.
func SetHeaders(h *wire.Header, t *call.Trace, recordID string, number int32, from wire.Header, o *call.Options) {
	trace, span := record.W3CTrace(t.ID), record.W3CSpanOf(recordID, t.Span, number)
	flags := sampledFlag
	id, _, came := parseTraceparent(o.Traceparent)
	same := came && record.W3CTrace(id) == trace
	if same {
		flags = o.Traceparent[53:]
	}
	h.Set(traceparentHeader, "00-"+hex.EncodeToString(trace[:])+"-"+hex.EncodeToString(span[:])+"-"+flags)
	if state := from.Get(tracestateHeader); same && state != "" && len(state) <= tracestateMax {
		h.Set(tracestateHeader, state)
	} else {
		h.Del(tracestateHeader)
	}
}
