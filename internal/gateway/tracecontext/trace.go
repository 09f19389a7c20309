package tracecontext

import (
	"cmp"
	"strings"

	"sluice/internal/gateway/call"
	"sluice/internal/kernel/wire"
)

// idMax is the maximum length, in bytes, of ids from callers.
const idMax = 256

// Read reads the ids from the headers: x-gateway-* first, then W3C traceparent. A missing
// trace id defaults to the request id. method and path name the span.
// Source: contract/dataplane.md 1.1.
func Read(c *call.Options, method, path, requestID string) call.Trace {
	t := call.Trace{ID: usable(c.TraceID), Span: usable(c.SpanID), Parent: usable(c.ParentSpan), Name: usable(c.SpanName)}
	if id, parent, ok := parseTraceparent(c.Traceparent); ok {
		t.ID = cmp.Or(t.ID, id)
		t.Parent = cmp.Or(t.Parent, parent)
		t.Name = cmp.Or(t.Name, method+" "+path)
	}
	if t.ID == "" {
		t.ID = requestID
	}
	return t
}

// parseTraceparent parses "00-<32 hex>-<16 hex>-<2 hex>".
// Source: https://www.w3.org/TR/trace-context/, section 3.2.
func parseTraceparent(s string) (id, parent string, ok bool) {
	if len(s) != 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || !isHex(s[:2]+s[3:35]+s[36:52]+s[53:]) {
		return "", "", false
	}
	id, parent = s[3:35], s[36:52]
	return id, parent, strings.Trim(id, "0") != "" && strings.Trim(parent, "0") != ""
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func usable(s string) string {
	if len(s) > idMax || !wire.ValidValue(s) {
		return ""
	}
	return s
}
