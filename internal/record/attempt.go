// Package record holds what is kept of traffic: one Attempt for every call that was sent
// to a target or refused before it, the feedback on it and the corrections of its cost.
// What may be asked of them stands here, too: a Query for rows, an Analysis for figures,
// an Export for files.
package record

import (
	"time"

	"sluice/internal/llm"
)

// Attempt is one try of one target, or a request that was refused before it came
// to a target. All attempts of a request share its RequestID; those of a chain of
// requests share a TraceID. It is filled by one goroutine and handed to the
// journal, which copies what it keeps.
// Source: contract/content-and-observability.md, logs.
type Attempt struct {
	ID              string // UUID v7, sorts by time; answered by GET /v1/logs/{id}
	RequestID       string
	TraceID         string
	SpanID          string
	ParentSpan      string
	SpanName        string
	Number          int32 // 0 for the first attempt of a request
	Started         time.Time
	Duration        time.Duration // until the last byte of the answer
	FirstByte       time.Duration // until the first byte of the upstream's answer; 0 when none came
	OrgID           string
	WorkspaceID     string
	KeyID           string
	KeyName         string
	UserID          string
	ConfigID        string // slug or id of a saved config; "inline" for one in the header
	TargetPath      string // "config.targets[1]"
	Provider        string // "openai"
	ProviderID      string // slug of a saved provider; empty for inline credentials
	Model           string // asked of the upstream
	ResponseModel   string // named in its answer
	Endpoint        llm.Endpoint
	Method          string
	Path            string // as the client sent it, without the query
	UpstreamURL     string // without credentials
	Status          int32  // sent to the client, or what the attempt ended with
	Upstream        int32  // status of the upstream; 0 when none came
	Retries         int32  // further tries inside this attempt
	Stream          bool
	Continued       bool // the stream went on from an earlier attempt
	Named           bool // the client's answer is the upstream's with the provider's id in it as "provider"
	Outcome         Outcome
	Error           string // code and text when the gateway or the provider failed the attempt
	CacheStatus     string
	PromptID        string // of the saved prompt that was run; empty for other requests
	PromptVersionID string
	PromptSlug      string
	Dropped         string // fields of the caller that the target could not carry: "top_k, messages[0].content[1]"
	Usage           llm.Usage
	Spend           Spend
	Metadata        map[string]string
	BytesIn         int64
	BytesOut        int64
	Remote          string
	Source          Source // where the record came from
	Runtime         string // of the client, as its library says: "node"; empty when it says nothing
	RuntimeVersion  string // "v22.1.0"
	SDKVersion      string // of the client's library: "node-1.5.0"
	ReplayOf        string // id of the attempt that this one repeats; empty for others
	Timings         Timings
	Request         Body   // as sent upstream; empty when bodies are not kept
	Response        Body   // as the upstream answered
	ClientRequest   Body   // as the client sent it; but for its Head empty where that is what was sent upstream
	ClientResponse  Body   // as the client got it; but for its Head empty where that is what the upstream answered
	Reshaped        Body   // the client's request with its prompt and the config's changes in it, still in the client's words; empty where that is ClientRequest or Request
	Translated      bool   // Request is in other words than ClientRequest; false where there is one of them alone
	Closing         []byte // the stored ledger line that ends with this attempt (ledger.Line); nil for none
}

// Tokens are all that a call used: what the provider says, or what its parts come to.
func (a *Attempt) Tokens() int64 {
	return max(a.Usage.TotalTokens, a.Usage.InputTokens+a.Usage.OutputTokens)
}

// Spend is what an attempt cost. The zero Spend is that of one that was sent nowhere.
type Spend struct {
	State    string // of its ledger line: "settled", "estimated", "released" or "unknown"; or SpentElsewhere
	Cost     int64  // nano-dollars
	Saved    int64  // nano-dollars that an answer from the cache would have cost
	MaxCost  int64  // nano-dollars that were reserved
	Unpriced string // why there is no cost, or only a part of it, which is Cost then; empty when all is known
	Version  string // of the price
	Terms    string // how the cost comes about, a JSON list of catalog.Term (docs/pricing.md); empty for nothing
	Basis    string // what was billed beside Usage (catalog.Basis); empty for nothing
}

// SpentElsewhere is the state of what an application told of a call of its own: there is
// no ledger line, and no budget was charged.
const SpentElsewhere = "elsewhere"

// Cost is what the attempt cost in nano-dollars, which budgets were charged with: of what has
// no price in part, the rest. known is false when there is no price at all, or when something
// was used and nobody asked for its price.
func (a *Attempt) Cost() (nano int64, known bool) {
	s := &a.Spend
	if s.Unpriced != "" && s.Cost == 0 || s.State == "" && a.Tokens() > 0 {
		return 0, false
	}
	return s.Cost, true
}

// Body is a kept request or response body.
type Body struct {
	Type      string // content type
	Encoding  string // content encoding: the bytes are as they were on the wire
	Bytes     []byte // up to the cap of the deployment
	Truncated bool   // there was more
	Size      int64  // of the whole body
	Head      []byte // header lines that came with it, secrets masked: "content-type: text/plain\nvia: 1.1 edge\n"
}

// Bodies are all bodies of the attempt, those that are empty among them.
func (a *Attempt) Bodies() [5]*Body {
	return [...]*Body{&a.Request, &a.Response, &a.ClientRequest, &a.ClientResponse, &a.Reshaped}
}

// Shaped is the request as it was last in the client's words: with its prompt and the
// config's changes in it, before it was put in those of the provider.
func (a *Attempt) Shaped() *Body {
	switch {
	case a.Reshaped.Other():
		return &a.Reshaped
	case a.Translated:
		return &a.ClientRequest
	}
	return &a.Request
}

// Other reports whether a client's body is another than the upstream's.
func (b *Body) Other() bool { return b.Size > 0 || len(b.Bytes) > 0 || b.Type != "" }

// Source says who made a record.
// Source: contract/content-and-observability.yaml, LogMetrics.source.
type Source string

// The sources. The zero value, FromGateway, is a request that this gateway served.
const (
	FromGateway Source = ""
	FromAPI     Source = "api"    // sent by a caller as a custom log
	FromOTLP    Source = "otlp"   // a span or log record that an application sent
	FromReplay  Source = "replay" // served by this gateway, to repeat a request of the log
)

// Served reports whether this gateway made the call.
func (s Source) Served() bool { return s == FromGateway || s == FromReplay }

// PublicName is the source as clients see it: "gateway", "api", "otlp" or "replay".
func (s Source) PublicName() Source {
	if s == FromGateway {
		return "gateway"
	}
	return s
}

// Outcome says how an attempt ended, in one word of a closed set.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"          // answered whole
	Refused     Outcome = "refused"     // by the gateway, before anything was sent
	Failed      Outcome = "failed"      // upstream answered with an error status
	Unreachable Outcome = "unreachable" // no connection, or it broke before an answer
	Timeout     Outcome = "timeout"     // no answer in time
	Invalid     Outcome = "invalid"     // an answer that cannot be used
	Truncated   Outcome = "truncated"   // the upstream ended a stream or body early
	Stalled     Outcome = "stalled"     // a stream was silent longer than the idle timeout
	ClientGone  Outcome = "client_gone" // the client left before the end
	Interrupted Outcome = "interrupted" // the gateway itself stopped
)
