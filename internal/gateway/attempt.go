package gateway

import (
	"context"
	"sync"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/providerjobs"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/transport"
)

// attempt is one try of one target.
type attempt struct {
	x          *exchange
	target     *routing.Target
	number     int
	started    time.Time
	called     time.Time // time of its first upstream call; zero before
	bodyReadAt time.Time // time at which the complete response was in memory; zero for a relayed response

	spec              *provider.Spec
	account           *credential.Account // the saved provider, nil for inline credentials
	values            provider.Values
	cacheable         bool // the values come from the target or the account only, not from the request
	model             string
	strict            bool          // finish reasons are converted to the format of the called API
	addedUsageRequest bool          // the gateway added stream_options.include_usage
	addedParams       dialect.Added // parameters of the body that the gateway added
	leftOut           dialect.Added // parameters that the gateway does not add, because the host rejects them
	resent            bool          // the request was sent again without one of them

	plan         *provider.Plan
	speech       translation                 // translation of the call; zero when both sides use one format
	shaped       []byte                      // of a recorded, translated call: the client's body after the changes of the config
	unsupported  []string                    // fields of the caller that the target does not support
	call         *llm.Call                   // a translated conversation
	names        *toolcalls.Names            // tool names of the conversation, where the provider gets different ones
	texts        *toolcalls.FreeTextTools    // free-text tools of the conversation, where the provider supports functions only
	sent         *dialect.Request            // any other translated request
	to           *dialect.Target             // target of the translated conversation or request
	more         [][]byte                    // bodies of the additional calls that the request needs
	extra        wire.Header                 // header fields that the translation needs
	conversation *responsestore.Conversation // of a response that the gateway stores
	restored     []byte                      // body to send, after earlier turns that the gateway stores were inserted
	translator   *streamTranslator           // translates the stream of a translated conversation
	header       wire.Header                 // upstream request header, without the credential
	body         wire.Payload                // upstream request body
	stream       bool

	job          *providerjobs.Plan // of a call that starts a provider job; nil for all others
	money        *metering.Account  // nil if the call is not metered
	backgroundID string             // id of the response that the provider continues in the background; empty without one
	auxiliary    bool               // not a try of a target, but provider work next to or after a call
	segment      *audioSegment      // the part of a conversation that the attempt transcribes; nil for all others
	unguarded    bool               // rejected because a mandatory guardrail does not run
	estimated    bool               // the response is the gateway's own estimate; nothing is sent
	modelInPath  bool               // its model can only be in the path

	retries      int // number of retries made
	retried      int // value of x-gateway-retry-attempt-count
	resp         *transport.Response
	outlives     *disconnect.Call        // the call of resp; nil if it ends with its client
	cancelUpload context.CancelCauseFunc // ends the context of cancelOnStalledUpload; nil without one
	drained      bool                    // the client disconnected, and the response was read to its end
	counted      bool                    // the provider ended the response with an error and reported usage
	failing      int                     // status for an error inside a successful response; 0 without one
	spooled      *wire.Spool             // the response body, if it was buffered
	first        []byte                  // first bytes of a stream
	got          wire.Header             // header of resp, as the upstream sent it
	raw          wire.Capture            // the upstream's stream, if it is translated and bodies are recorded
	response     upstreamResponse
	status       int
	fault        *fault.Error
	id           string // id of its record; see recordID
	upstream     int32  // as in record.Attempt; so are the next four fields
	firstByte    time.Duration
	queue        time.Duration
	connect      time.Duration
	dropped      string
	continued    bool
	written      *record.Attempt // see log
	recorded     bool
	committed    bool // the client received bytes of it
	canContinue  bool // another target can continue it
}

// upstreamResponse is the response of an attempt: its header, and its body in memory or still
// unread in resp.
type upstreamResponse struct {
	header wire.Header
	body   []byte
	live   bool // the body is still unread
}

// unified reports whether the response has a format that the gateway guarantees. Passed-through
// responses are not changed.
func (a *attempt) unified() bool {
	return a.x.match.Endpoint != llm.Proxy && a.plan.Endpoint.Dialect != provider.Through
}

// records pools the records of attempts.
var records = sync.Pool{New: func() any { return new(record.Attempt) }}

// log returns the record of the attempt. It gets one from the pool at the first use: when
// response data is recorded or when the attempt ends. Records are large, and thousands of
// attempts may wait for a response at the same time.
func (a *attempt) log() *record.Attempt {
	if a.written == nil {
		a.written = records.Get().(*record.Attempt)
	}
	return a.written
}

// reset clears the attempt and returns its record to the pool. Nothing may refer to the record
// afterwards.
func (a *attempt) reset() {
	if a.written != nil {
		*a.written = record.Attempt{}
		records.Put(a.written)
	}
	*a = attempt{}
}

func (a *attempt) close() {
	if a.resp != nil {
		_ = a.resp.Body.Close() // the response was read or is not needed
		a.resp = nil
	}
	if a.spooled != nil {
		_ = a.spooled.Close()
		a.spooled = nil
	}
	a.raw.Free()
	if a.cancelUpload != nil {
		a.cancelUpload(nil)
		a.cancelUpload = nil
	}
	a.outlives.Release()
	a.outlives = nil
}
