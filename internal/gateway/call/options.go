package call

import (
	"cmp"
	"strings"
	"time"
)

// Options are the control headers of a request, as received: those that begin with x-gateway-, and
// a few standard ones. intake.ReadOptions fills them. An absent header is empty. Unknown
// x-gateway-* headers are not an error, because client libraries turn any option into one.
// Source: contract/dataplane.md 1.1 and part 8.
type Options struct {
	APIKey, Authorization, XAPIKey              string
	AzureKey, GoogleKey, Protocols              string
	Provider, VirtualKey, Config, CustomHost    string
	Forward, Nitro                              string
	TraceID, SpanID, SpanName, ParentSpan       string
	Traceparent, Baggage, Metadata, ContentType string
	Strict, Debug, FetchIntegrated, TimeoutMS   string
	StrictParams, Beta, Sensitive, Passthrough  string
	CacheNamespace, CacheRefresh                string
	Runtime, RuntimeVersion, PackageVersion     string // of the client library

	Timeout time.Duration // TimeoutMS, parsed; 0 when it is absent or not a number
	Twice   string        // name of a header with two different values; empty for none
}

// Credential returns the caller's key from the first header that has one.
func (o *Options) Credential() string {
	return cmp.Or(o.APIKey, BearerToken(o.Authorization), o.XAPIKey, o.AzureKey, o.GoogleKey)
}

// HasBeta reports whether the caller opts in to a feature by its name in x-gateway-beta, a
// comma-separated list. Unknown names are ignored.
func (o *Options) HasBeta(feature string) bool {
	for name := range strings.SplitSeq(o.Beta, ",") {
		if strings.TrimSpace(name) == feature {
			return true
		}
	}
	return false
}

// BearerToken returns the token of an Authorization header, or "" if it is not a bearer token.
func BearerToken(authorization string) string {
	const scheme = "bearer "
	if len(authorization) > len(scheme) && strings.EqualFold(authorization[:len(scheme)], scheme) {
		return strings.TrimSpace(authorization[len(scheme):])
	}
	return ""
}

// KeyProtocol begins the name of a WebSocket subprotocol that contains an API key. OpenAI's
// browser clients cannot set headers of a WebSocket. They offer "openai-insecure-api-key.sk-…"
// together with "realtime" instead.
// Source: https://platform.openai.com/docs/guides/realtime-websocket, read 2026-11.
const KeyProtocol = "openai-insecure-api-key."
