// Package record contains the records of traffic: one Attempt for every call that was sent to
// a target or rejected before that, the feedback on it and the corrections of its cost. It
// also defines how to read them: a Query for rows, an Analysis for metrics, an Export for
// files. Start reading at Attempt.
package record

import (
	"time"

	"sluice/internal/kernel/llm"
)

// Attempt is one attempt at one target, or a request that was rejected before it reached a
// target. All attempts of a request share its RequestID; those of a chain of requests share a
// TraceID. One goroutine fills it and passes it to the journal, which copies what it stores.
// Source: contract/content-and-observability.md, logs.
type Attempt struct {
	ID              string // UUID v7, sorts by time; used by GET /v1/logs/{id}
	RequestID       string
	TraceID         string
	SpanID          string
	ParentSpan      string
	SpanName        string
	Number          int32 // 0 for the first attempt of a request
	Started         time.Time
	Duration        time.Duration // until the last byte of the response
	FirstByte       time.Duration // until the first byte of the upstream's response; 0 if there is none
	OrgID           string
	WorkspaceID     string
	KeyID           string
	KeyName         string
	UserID          string
	ConfigID        string // slug or id of a saved config; "inline" for one in the header
	TargetPath      string // "config.targets[1]"
	Provider        string // "openai"
	ProviderID      string // slug of a saved provider; empty for inline credentials
	Model           string // requested from the upstream
	ResponseModel   string // named in its response
	Endpoint        llm.Endpoint
	Method          string
	Path            string // as the client sent it, without the query
	UpstreamURL     string // without credentials
	Status          int32  // sent to the client, or the final status of the attempt
	Upstream        int32  // status of the upstream; 0 if there is none
	Retries         int32  // retries inside this attempt
	Stream          bool
	Continued       bool // the stream continued from an earlier attempt
	Named           bool // the client's response is the upstream's with the provider's id added as "provider"
	Outcome         Outcome
	Error           string // code and text when the gateway or the provider failed the attempt
	CacheStatus     string
	PromptID        string // of the saved prompt that was run; empty for other requests
	PromptVersionID string
	PromptSlug      string
	Dropped         string // fields of the caller that the target does not support: "top_k, messages[0].content[1]"
	Usage           llm.Usage
	Spend           Spend
	Metadata        map[string]string
	BytesIn         int64
	BytesOut        int64
	Remote          string
	Source          Source // where the record came from
	Runtime         string // of the client, as reported by its library: "node"; empty if not reported
	RuntimeVersion  string // "v22.1.0"
	SDKVersion      string // of the client's library: "node-1.5.0"
	ReplayOf        string // id of the attempt that this one replays; empty for others
	Timings         Timings
	Request         Body   // as sent upstream; empty if bodies are not stored
	Response        Body   // as received from the upstream
	ClientRequest   Body   // as the client sent it; empty except for its Head if the same was sent upstream
	ClientResponse  Body   // as sent to the client; empty except for its Head if it is the upstream's response
	Reshaped        Body   // the client's request with its prompt and the config's changes, still in the client's format; empty if it equals ClientRequest or Request
	Hooks           string // results of guardrails, a JSON object {before_request_hooks, after_request_hooks}; empty if none ran
	Lookup          string // how the response cache was used, a JSON object; empty if it was not
	PromptCache     string // how the provider's prompt cache was used, a JSON object {placed, dropped, pinned, saved_nano}; empty if the config does not use it
	Translated      bool   // Request has another format than ClientRequest; false if only one of them exists
	Closing         []byte // the stored ledger entry that ends with this attempt (ledger.Entry); nil for none
}

// Tokens returns all tokens of a call: the total that the provider reports, or the sum of the
// parts.
func (a *Attempt) Tokens() int64 {
	return max(a.Usage.TotalTokens, a.Usage.InputTokens+a.Usage.OutputTokens)
}

// Spend is the cost of an attempt. The zero Spend is that of an attempt that was not sent.
type Spend struct {
	State    string // of its ledger entry: "settled", "estimated", "released" or "unknown"; or SpentElsewhere
	Cost     int64  // nano-dollars
	Saved    int64  // nano-dollars that a response from the cache would have cost
	MaxCost  int64  // nano-dollars that were reserved
	Unpriced string // why there is no cost, or Cost is incomplete; empty if Cost is complete
	Version  string // of the price
	Terms    string // how the cost is calculated, a JSON list of catalog.Term (docs/pricing.md); empty for nothing
	Basis    string // what was billed in addition to Usage (catalog.Basis); empty for nothing
}

// SpentElsewhere is the state of a call that an application made and reported: there is no
// ledger entry, and no budget was charged.
const SpentElsewhere = "elsewhere"

// Cost returns the cost of the attempt in nano-dollars that budgets were charged. If a part
// has no price, it is the cost of the rest. known is false if there is no price at all, or if
// something was used and its price was not looked up.
func (a *Attempt) Cost() (nano int64, known bool) {
	s := &a.Spend
	if s.Unpriced != "" && s.Cost == 0 || s.State == "" && a.Tokens() > 0 {
		return 0, false
	}
	return s.Cost, true
}

// Body is a stored request or response body.
type Body struct {
	Type      string // content type
	Encoding  string // content encoding: the bytes are as they were transferred
	Bytes     []byte // up to the maximum of the deployment
	Truncated bool   // there was more
	Size      int64  // of the complete body
	Head      []byte // its header lines, secrets masked: "content-type: text/plain\nvia: 1.1 edge\n"
}

// NewBody returns the stored form of a body of size bytes, of which b is the beginning or all. It
// retains b, truncated to maxBytes.
func NewBody(contentType string, b []byte, size int64, maxBytes int) Body {
	k := Body{Type: contentType, Bytes: b, Size: size}
	if len(b) > maxBytes {
		k.Bytes, k.Truncated = b[:maxBytes], true
	}
	if size > int64(len(k.Bytes)) {
		k.Truncated = true
	}
	return k
}

// Bodies returns all bodies of the attempt, including empty ones.
func (a *Attempt) Bodies() [5]*Body {
	return [...]*Body{&a.Request, &a.Response, &a.ClientRequest, &a.ClientResponse, &a.Reshaped}
}

// Shaped returns the last form of the request in the client's format: with its prompt and the
// config's changes, before it was translated for the provider.
func (a *Attempt) Shaped() *Body {
	switch {
	case a.Reshaped.Other():
		return &a.Reshaped
	case a.Translated:
		return &a.ClientRequest
	}
	return &a.Request
}

// Other reports whether a client's body differs from the upstream's.
func (b *Body) Other() bool { return b.Size > 0 || len(b.Bytes) > 0 || b.Type != "" }

// Source is the origin of a record.
// Source: contract/content-and-observability.yaml, LogMetrics.source.
type Source string

// These are the sources. The zero value, FromGateway, is a request that this gateway served.
const (
	FromGateway Source = ""
	FromAPI     Source = "api"    // sent by a caller as a custom log
	FromOTLP    Source = "otlp"   // a span or log record that an application sent
	FromReplay  Source = "replay" // served by this gateway to replay a request of the log
)

// Served reports whether this gateway made the call.
func (s Source) Served() bool { return s == FromGateway || s == FromReplay }

// PublicName returns the source as shown to clients: "gateway", "api", "otlp" or "replay".
func (s Source) PublicName() Source {
	if s == FromGateway {
		return "gateway"
	}
	return s
}

// Outcome is how an attempt ended, one of a closed set.
type Outcome string

// These are the outcomes.
const (
	OK          Outcome = "ok"          // complete response
	Refused     Outcome = "refused"     // by the gateway, before anything was sent
	Failed      Outcome = "failed"      // the upstream returned an error status
	Unreachable Outcome = "unreachable" // no connection, or it broke before a response
	Timeout     Outcome = "timeout"     // no response in time
	Invalid     Outcome = "invalid"     // an unusable response
	Truncated   Outcome = "truncated"   // the upstream ended a stream or body early
	Stalled     Outcome = "stalled"     // a stream was silent longer than the idle timeout
	ClientGone  Outcome = "client_gone" // the client disconnected before the end
	Interrupted Outcome = "interrupted" // the gateway itself stopped
)
