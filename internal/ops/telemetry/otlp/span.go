package otlp

import (
	"net/url"
	"strconv"
	"strings"

	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"sluice/internal/domain/record"
	"sluice/internal/ops/telemetry/genai"
)

// prefix begins the names of attributes that the conventions do not define.
const prefix = "sluice."

// maxCaptured is the maximum size of each body in a span, in bytes.
const maxCaptured = 16 << 10

// attemptSpan returns the span of one attempt, as a child of the span that the caller named.
func attemptSpan(a *record.Attempt, content bool) *trace.Span {
	id, spanID := a.W3CTrace(), a.W3CSpan()
	s := &trace.Span{
		TraceId: id[:], SpanId: spanID[:], Name: strings.ToValidUTF8(genai.SpanName(a.Endpoint, a.Model), ""), Kind: trace.Span_SPAN_KIND_CLIENT,
		StartTimeUnixNano: uint64(a.Started.UnixNano()), EndTimeUnixNano: uint64(a.Started.Add(a.Duration).UnixNano()),
	}
	if parent, ok := a.W3CParent(); ok {
		s.ParentSpanId = parent[:]
	}
	s.Attributes = describe(a, content)
	if a.Outcome != record.OK {
		s.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR}
	}
	return s
}

func describe(a *record.Attempt, content bool) attributes {
	var to attributes
	to.text(genai.OperationName, genai.Operation(a.Endpoint))
	to.text(genai.ProviderName, genai.Provider(a.Provider))
	to.text(genai.RequestModel, a.Model)
	to.text(genai.ResponseModel, a.ResponseModel)
	u := &a.Usage
	to.number(genai.InputTokens, u.InputTokens)
	to.number(genai.OutputTokens, u.OutputTokens)
	to.number(genai.CacheReadTokens, u.CachedTokens)
	to.number(genai.CacheWriteTokens, u.CacheWriteTokens)
	to.text(genai.PromptName, a.PromptSlug)
	describeCall(&to, a)
	describeGateway(&to, a)
	if content {
		to.text(prefix+"request.body", captured(&a.Request))
		to.text(prefix+"response.body", captured(&a.Response))
	}
	return to
}

// describeCall adds where the call went and how it ended.
func describeCall(to *attributes, a *record.Attempt) {
	if u, err := url.Parse(a.UpstreamURL); err == nil && u.Host != "" {
		to.text(genai.ServerAddress, u.Hostname())
		port, _ := strconv.ParseInt(u.Port(), 10, 32) // a missing port is 0
		to.number(genai.ServerPort, port)
	}
	to.text(genai.HTTPMethod, a.Method)
	to.number(genai.HTTPStatus, int64(a.Status))
	to.text(genai.ErrorType, errorOf(a))
}

// errorOf returns a value of a closed set: the status of a failure, otherwise the outcome of the
// attempt.
func errorOf(a *record.Attempt) string {
	if a.Outcome == record.OK {
		return ""
	}
	if a.Outcome == record.Failed {
		return strconv.Itoa(int(a.Status))
	}
	return string(a.Outcome)
}

// describeGateway adds attributes that only a gateway has.
func describeGateway(to *attributes, a *record.Attempt) {
	to.text(prefix+"request.id", a.RequestID)
	to.text(prefix+"log.id", a.ID)
	to.text(prefix+"trace.id", a.TraceID)
	to.text(prefix+"span.name", a.SpanName)
	to.text(prefix+"organisation.id", a.OrgID)
	to.text(prefix+"workspace.id", a.WorkspaceID)
	to.text(prefix+"key.id", a.KeyID)
	to.text(prefix+"config.id", a.ConfigID)
	to.text(prefix+"provider.id", a.ProviderID)
	to.text(prefix+"target", a.TargetPath)
	to.text(prefix+"outcome", string(a.Outcome))
	to.number(prefix+"attempt", int64(a.Number))
	to.number(prefix+"retries", int64(a.Retries))
	to.addBool(prefix+"stream", a.Stream)
	to.real(prefix+"first_byte.seconds", a.FirstByte.Seconds())
	if nano, known := a.Cost(); known {
		to.real(prefix+"cost.dollars", float64(nano)/1e9)
	}
}

// captured returns the beginning of a body that is plain text.
func captured(b *record.Body) string {
	if b.Encoding != "" || strings.HasPrefix(b.Type, "audio/") || strings.HasPrefix(b.Type, "image/") {
		return ""
	}
	return strings.ToValidUTF8(string(b.Bytes[:min(len(b.Bytes), maxCaptured)]), "")
}
