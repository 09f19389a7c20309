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

// attempt is one try of one target. Each step writes its own group of fields; the later steps read
// them.
type attempt struct {
	x         *exchange
	target    *routing.Target
	number    int
	started   time.Time
	strict    bool          // finish reasons are converted to the format of the called API
	auxiliary bool          // not a try of a target, but provider work next to or after a call
	segment   *audioSegment // the part of a conversation that the attempt transcribes; nil for all others
	fault     *fault.Error  // the error of the step that failed

	repetition
	resolvedTarget
	outgoing
	translatedCall
	incoming
	callTimes
	charging
	delivery
	recording
	judgement
	cached
	promptCached
}

// resolvedTarget is the provider of an attempt and its credentials. credentialResolver writes it.
// While the call is planned and reserved, a more precise model may replace the model.
type resolvedTarget struct {
	spec      *provider.Spec
	account   *credential.Account // the saved provider, nil for inline credentials
	values    provider.Values
	cacheable bool // the values come from the target or the account only, not from the request
	model     string
}

// outgoing is the upstream request of an attempt. callPlanner writes its plan and shaper the rest.
// A follow-up call replaces it.
type outgoing struct {
	plan              *provider.Plan
	header            wire.Header   // upstream request header, without the credential
	extra             wire.Header   // header fields that the translation needs
	body              wire.Payload  // upstream request body
	shaped            []byte        // of a recorded, translated call: the client's body after the changes of the config
	restored          []byte        // body to send, after earlier turns that the gateway stores were inserted
	stream            bool          // the response is a stream
	estimated         bool          // the response is the gateway's own estimate; nothing is sent
	unsupported       []string      // fields of the caller that the target does not support
	dropped           string        // unsupported as in record.Attempt
	addedUsageRequest bool          // the gateway added stream_options.include_usage
	addedParams       dialect.Added // parameters of the body that the gateway added
	leftOut           dialect.Added // parameters that the gateway does not add, because the host rejects them
	resent            bool          // the request was sent again without one of them
}

// translatedCall is the translation of a call. callPlanner chooses it in speech; translator writes
// the rest.
type translatedCall struct {
	speech       translation                 // translation of the call; zero when both sides use one format
	call         *llm.Call                   // a translated conversation
	names        *toolcalls.Names            // tool names of the conversation, where the provider gets different ones
	texts        *toolcalls.FreeTextTools    // free-text tools of the conversation, where the provider supports functions only
	sent         *dialect.Request            // any other translated request
	to           *dialect.Target             // target of the translated conversation or request
	more         [][]byte                    // bodies of the additional calls that the request needs
	conversation *responsestore.Conversation // of a response that the gateway stores
	translator   *streamTranslator           // translates the stream of a translated conversation
}

// incoming is the upstream response of an attempt. upstreamCaller and sender write the head, and
// receiver the body. An error inside a successful response changes its status.
type incoming struct {
	resp     *transport.Response
	retries  int          // number of retries made
	retried  int          // value of x-gateway-retry-attempt-count
	first    []byte       // first bytes of a stream
	got      wire.Header  // header of resp, as the upstream sent it
	raw      wire.Capture // the upstream's stream, if it is translated and bodies are recorded
	spooled  *wire.Spool  // the response body, if it was buffered
	response upstreamResponse
	status   int
	upstream int32 // as in record.Attempt
	failing  int   // status for an error inside a successful response; 0 without one
	counted  bool  // the provider ended the response with an error and reported usage
}

// callTimes are the times of the upstream calls of an attempt. The steps that call and read write
// them.
type callTimes struct {
	called     time.Time     // time of its first upstream call; zero before
	bodyReadAt time.Time     // time at which the complete response was in memory; zero for a relayed response
	firstByte  time.Duration // as in record.Attempt; so are the next two fields
	queue      time.Duration
	connect    time.Duration
}

// charging is what an attempt is charged for. accountant writes it, except that backgroundTracker
// writes backgroundID.
type charging struct {
	money        *metering.Account  // nil if the call is not metered
	job          *providerjobs.Plan // of a call that starts a provider job; nil for all others
	modelInPath  bool               // its model can only be in the path
	backgroundID string             // id of the response that the provider continues in the background; empty without one
}

// delivery is the way of the response to the client. deliverer writes it, except for the fields
// about the end of the call, which upstreamCaller writes.
type delivery struct {
	outlives     *disconnect.Call        // the call of resp; nil if it ends with its client
	cancelUpload context.CancelCauseFunc // ends the context of cancelOnStalledUpload; nil without one
	drained      bool                    // the client disconnected, and the response was read to its end
	committed    bool                    // the client received bytes of it
	canContinue  bool                    // another target can continue it
	continued    bool                    // as in record.Attempt
}

// recording is the record of an attempt. recorder completes it; the other steps add what they know.
type recording struct {
	id           string          // id of its record; see recordID
	written      *record.Attempt // see log
	asyncResults *asyncResults   // of its asynchronous hooks, which write it; nil without any
	recorded     bool
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
func (r *recording) log() *record.Attempt {
	if r.written == nil {
		r.written = records.Get().(*record.Attempt)
	}
	return r.written
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
	a.captured.Free()
	if a.cancelUpload != nil {
		a.cancelUpload(nil)
		a.cancelUpload = nil
	}
	a.outlives.Release()
	a.outlives = nil
	a.endTurn()
}
