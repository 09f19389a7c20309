package dataplane

import (
	"context"
	"sync"
	"time"

	"sluice/internal/credential"
	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider"
	"sluice/internal/provider/transport"
	"sluice/internal/record"
	"sluice/internal/routing"
	"sluice/internal/wire"
)

// attempt is one try of one target.
type attempt struct {
	x          *exchange
	target     *routing.Target
	number     int
	started    time.Time
	called     time.Time // when its first call was sent; zero before
	bodyReadAt time.Time // when an answer was in hand to its last byte; zero where it is relayed as it comes

	spec              *provider.Spec
	account           *credential.Account // the saved provider, nil for inline credentials
	values            provider.Values
	cacheable         bool // they are those of the target or the account alone, nothing came with the request
	model             string
	strict            bool          // finish reasons are brought into the shape of the surface
	addedUsageRequest bool          // stream_options.include_usage was added by us
	addedParams       dialect.Added // parameters of the body that the gateway added
	leftOut           dialect.Added // those that it does not add, because the host refuses them
	resent            bool          // the request was made again without one of them

	plan         *provider.Plan
	speech       translation            // how the call is translated; zero when both sides speak one shape
	shaped       []byte                 // of a translated call that is kept: the client's body with the changes of the config
	unsupported  []string               // fields of the caller that the target cannot carry
	call         *llm.Call              // a translated conversation
	names        *dialect.Names         // of its tools, where the provider gets others
	texts        *dialect.FreeTextTools // its tools that take free text, where the provider has functions only
	sent         *dialect.Request       // or another request
	to           *dialect.Target        // of either
	more         [][]byte               // bodies of further calls that the request takes
	extra        wire.Header            // lines that the translation needs
	conversation *conversation          // of a response that the gateway keeps
	restored     []byte                 // what is sent, where what was said before was put into it that the gateway keeps
	translator   *streamTranslator      // the stream of a translated conversation
	header       wire.Header            // to send, without the credential
	body         wire.Payload           // to send
	stream       bool

	job          *jobPlan      // of a call that begins a job at its provider; nil for all others
	reservation  *reservation  // nil where the call is not metered
	sentUpstream bool          // the call may have reached the provider
	answers      uint64        // id of the response that answers, as contexts know it; 0 where there is none
	backgroundID string        // id of the response that the provider goes on working on; empty for none
	outcome      outcome       // handed or unheard, of a call or work that ended so; else the outcome tells
	auxiliary    bool          // it is no try of a target, but of work that a provider does beside a call or after it
	segment      *audioSegment // of a conversation, which the attempt transcribes; nil for all others
	unguarded    bool          // refused because a guardrail that binds it does not run
	estimated    bool          // the answer is our own estimate: nothing is sent
	modelInPath  bool          // its model stands in the path, if anywhere

	retries      int // further tries made
	retried      int // what x-gateway-retry-attempt-count says
	resp         *transport.Response
	outlives     *detachedCall           // the call that resp is of; nil where it ends with its caller
	cancelUpload context.CancelCauseFunc // ends the context of cancelOnStalledUpload; nil where there is none
	drained      bool                    // the caller left, and the answer was read to its end
	counted      bool                    // the provider ended the answer with an error, and counted what was used
	failing      int                     // status that stands for the failure in an answer of success; 0 for none
	spooled      *wire.Spool             // the reply's body, when it was held
	first        []byte                  // the first bytes of a stream
	got          wire.Header             // of resp, as the upstream sent it
	raw          capture                 // a stream as the upstream sent it, where it is put in other words and bodies are kept
	response     upstreamResponse
	status       int
	fault        *fault.Error
	id           string // of its record; see recordID
	upstream     int32  // as record.Attempt has it, and so the next four
	firstByte    time.Duration
	queue        time.Duration
	connect      time.Duration
	dropped      string
	continued    bool
	written      *record.Attempt // see log
	recorded     bool
	committed    bool // bytes of it reached the client
	canContinue  bool // another target can go on with it
}

// upstreamResponse is the answer in hand: its head, and its body in memory or still to be
// read from resp.
type upstreamResponse struct {
	header wire.Header
	body   []byte
	live   bool // the body is still at the upstream
}

// unified reports whether the answer has a shape that is ours to keep. What is only
// passed through is not touched.
func (a *attempt) unified() bool {
	return a.x.match.Endpoint != llm.Proxy && a.plan.Endpoint.Dialect != provider.Through
}

// records are lent to attempts.
var records = sync.Pool{New: func() any { return new(record.Attempt) }}

// log is the record of the attempt. It is lent when the first thing is written down that
// an answer says, or when the attempt ends: it is large, and thousands wait for an answer
// at a time.
func (a *attempt) log() *record.Attempt {
	if a.written == nil {
		a.written = records.Get().(*record.Attempt)
	}
	return a.written
}

// reset forgets everything and gives the record back, of which nobody may hold a part.
func (a *attempt) reset() {
	if a.written != nil {
		*a.written = record.Attempt{}
		records.Put(a.written)
	}
	*a = attempt{}
}

func (a *attempt) close() {
	if a.resp != nil {
		_ = a.resp.Body.Close() // the answer was taken or is not wanted
		a.resp = nil
	}
	if a.spooled != nil {
		_ = a.spooled.Close()
		a.spooled = nil
	}
	a.raw.free()
	if a.cancelUpload != nil {
		a.cancelUpload(nil)
		a.cancelUpload = nil
	}
	a.outlives.release()
	a.outlives = nil
}
