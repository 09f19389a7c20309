package gateway

import (
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/sniff"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/sealed"
)

const (
	// errorTextMax is the maximum size of a provider's error message in a record, in bytes.
	errorTextMax = 1 << 10
)

// providerErrorText returns the error text of a record for a provider's error response:
// "provider_error: groq error: no such model (model_not_found)". When bodies are not captured,
// the status replaces the message, because messages quote prompts.
func providerErrorText(a *attempt, r *record.Attempt) string {
	f := upstreamerror.Failure{Endpoint: a.x.match.Endpoint, Provider: r.Provider, Status: a.status, Type: errorType(a.response.header), Body: sniff.TrimByteOrderMark(r.Response.Plain(errorReadMax))}
	if a.spec != nil {
		f.Provider = a.spec.ID
	}
	if a.plan != nil {
		f.Shape = a.plan.Endpoint.Error
	}
	if a.first != nil {
		f.Body = dialect.FirstEventFailure(f.Body)
	}
	f.Body = sealed.Body("application/json", f.Body)
	message, code := "the provider responded with status "+strconv.Itoa(a.status), ""
	if len(f.Body) > 0 {
		var summary string
		if summary, code = f.Summary(); a.x.capturesBodies() {
			message = summary
		}
	}
	if len(message) > errorTextMax {
		message = strings.ToValidUTF8(message[:errorTextMax], "") + "…"
	}
	text := providerError + ": " + message
	if code != "" {
		text += " (" + clip(code) + ")"
	}
	return text
}
