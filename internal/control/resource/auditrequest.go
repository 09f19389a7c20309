package resource

import (
	"net/http"
	"slices"
	"strings"

	"sluice/internal/kernel/sealed"
)

// Limits of the headers and query parameters in an audit row.
const (
	maxAuditItems      = 50  // parameters
	maxAuditValueBytes = 512 // of one value
)

// auditedHeaderNames are the request headers whose values an audit row contains. They show the
// client, its origin and the trace that the call belongs to.
var auditedHeaderNames = []string{
	"accept", "content-length", "content-type", "if-match", "origin", "user-agent", "x-forwarded-for", "x-forwarded-host",
	"x-forwarded-proto", "x-real-ip", "traceparent", "tracestate", "x-request-id", "x-correlation-id", "x-gateway-trace-id",
	"b3", "x-b3-traceid", "x-b3-spanid", "x-b3-sampled", "x-amzn-trace-id", "x-cloud-trace-context",
}

// auditHeaders returns the headers of an audit row, under their lower-case names. Headers that
// look like credentials are listed with a masked value. Cookies and all other headers are left
// out, because their meaning is unknown.
func auditHeaders(h http.Header) map[string]string {
	m := make(map[string]string)
	for name, values := range h {
		name = strings.ToLower(name)
		switch {
		case strings.Contains(name, "cookie"):
		case slices.Contains(auditedHeaderNames, name):
			m[name] = cut(strings.Join(values, ", "))
		case SecretField(name, "") && len(m) < maxAuditItems && len(name) <= maxAuditValueBytes:
			m[sealed.Name(name)] = sealed.Mask
		}
	}
	return m
}

// auditQuery returns the query parameters that were sent. It masks secrets and the values of
// parameters that the operation does not have: a mistyped name may hold a secret.
func (in *incomingRequest) auditQuery() map[string]string {
	m := make(map[string]string)
	for name, values := range in.r.URL.Query() {
		if len(m) == maxAuditItems {
			break
		}
		v := strings.Join(values, ",")
		switch {
		case v == "":
			continue
		case SecretField(name, ""), !in.op.knowsParam(name):
			v = sealed.Mask
		}
		m[cut(sealed.Name(name))] = cut(sealed.Address(v))
	}
	return m
}

// knowsParam reports whether the operation has a query parameter of that name.
func (o *Operation) knowsParam(name string) bool {
	if name == "organisation_id" || name == "workspace_id" || name == "workspace_slug" {
		return true // the ids of the scope, in any operation
	}
	return slices.ContainsFunc(o.Query, func(p Param) bool { return p.Name == name })
}

// cut truncates a value to maxAuditValueBytes.
func cut(v string) string {
	if len(v) <= maxAuditValueBytes {
		return v
	}
	return strings.ToValidUTF8(v[:maxAuditValueBytes], "") + "…"
}
