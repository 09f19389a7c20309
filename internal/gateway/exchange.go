package gateway

import (
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/gateway/intake"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/stream"
	"sluice/internal/gateway/tracecontext"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/quota"
	"sluice/internal/ops/telemetry/accesslog"
)

// exchange is one client request and all data about it. It and its attempts belong to the
// goroutine that serves the request, until the request is served. Each step writes its own group of
// fields; the later steps read them.
type exchange struct {
	walker  *walker         // makes its attempts
	caller  *upstreamCaller // makes the calls of its attempts
	scratch *scratch
	req     *wire.Request
	out     wire.Responder
	dir     Directory
	id      string
	started time.Time
	ctl     call.Options
	trace   call.Trace
	limits  *metering.Caller // limits of its caller
	inner   *innerCall       // the caller that a call of the gateway itself serves; nil for others
	replay  *replayContext   // the replayed request, nil for a caller's own request
	prompt  *invocation      // the saved prompt that is run, nil for other requests
	batch   *batchCall       // the call of a managed batch, nil for a caller's own request

	route
	callerIdentity
	requestBody
	requestedModel
	chosenConfig
	walkState
	warmConversation
	cutStream
	sentResponse
}

// route is the endpoint of a request and the path that selects it. exchanges writes it. A saved
// prompt replaces it by its own.
type route struct {
	match        llm.Match
	path         string     // escaped, below /v1
	alias        *llm.Alias // the prefix of its path, nil without a known prefix
	deployed     string     // the deployment in its path, which is used as the model
	shown        string     // the complete path, in the form that logs may show
	unknown      bool       // the path is unknown, and the caller uses the administration API
	nativeClient bool       // an Anthropic client on a path that other clients share
}

// callerIdentity is the caller of a request. admission writes it.
type callerIdentity struct {
	key      *keys.Entry
	scope    *tenant.Scope
	metadata map[string]string
}

// requestBody is the body of a request. bodyReader writes it.
type requestBody struct {
	spool         *wire.Spool         // the complete body, if it was buffered
	doc           *jsonedit.Doc       // top level of the body, if it is a JSON object
	form          *multipartedit.Form // parts of the body, if it is a form
	made          []*wire.Spool       // bodies that were derived from it
	unjudged      *attemptInput       // the request before hooks of the attempt changed it; nil if they did not
	unjudgedForm  *multipartedit.Form // the form before hooks changed its file; nil if they did not
	memo          *guardrails.Memo    // results of paid hooks; nil before the first
	vault         *placeholder.Vault  // values that reversible redaction hides; nil before the first
	direct        *wire.Payload       // the unbuffered body, if it is streamed
	passes        *limitedBody        // the reader of direct
	bodyNotParsed bool                // there is a body, but the model in it is not known
}

// requestedModel is the model that a request names, in its body, query or path, and the fields
// next to it. The steps of intake write it.
type requestedModel struct {
	account      string // "@slug" of the body's model field, without the "@"
	model        string // the model of the body without the slug
	user         string // the user field of the body
	stream       bool
	modelInQuery bool // the model is in the query
}

// chosenConfig is the routing of a request. configSelector writes it.
type chosenConfig struct {
	config   *routing.Config
	configID string      // slug of a saved config, "inline", or empty for headers only
	savedAs  quota.Named // the saved config; empty for others
	locked   bool        // the config of the key must not be overridden
}

// walkState are the attempts of a request. walker writes it.
type walkState struct {
	attempts int
	walked   time.Time // time at which its first attempt began; zero before
	last     *attempt  // the attempt whose response is sent
}

// cutStream is the delivered part of a stream that failed; the next target may continue it.
// deliverer writes it.
type cutStream struct {
	partial        *stream.Partial   // output of an earlier target's stream before it failed
	streamError    *fault.Error      // the reason why a stream that the client partly received is incomplete
	cutInsideEvent bool              // the received part ends inside an event
	sequence       int64             // number of the next event of the stream, if events are numbered
	partialStream  *streamTranslator // translator of the received part; nil without translation
}

// sentResponse is what the client received. responder and deliverer write it.
type sentResponse struct {
	refusal  *fault.Error
	headSent bool
	status   int
}

// exchanges begins the exchange of each request.
type exchanges struct {
	open           *atomic.Int64
	trustedProxies wire.Proxies
	clock          ident.Clock
	walker         *walker
	caller         *upstreamCaller
	directory      func() Directory
	headerAliases  []string
}

func (e *exchanges) newExchange(req *wire.Request, out wire.Responder) *exchange {
	e.open.Add(1)
	if len(e.trustedProxies) > 0 {
		req.Remote = e.trustedProxies.Client(req.Remote, req.Header.Values("x-forwarded-for")...)
	}
	r, now := acquireScratch(), e.clock.Now()
	x := &r.exchange
	x.walker, x.caller, x.scratch, x.req, x.out, x.dir, x.id, x.started, x.limits = e.walker, e.caller, r, req, out, e.directory(), ident.NewIDAt(now), now, &r.caller
	addr := llm.Locate(req.Method, req.Path)
	x.alias, x.deployed = addr.Alias, addr.Deployment
	x.match, x.path = lookup(req.Method, addr.Rest)
	if x.match.Endpoint == llm.Proxy {
		if m, ok := lookupAnthropicBatch(req.Method, x.path); ok {
			x.match, x.nativeClient = m, true
		}
	}
	intake.ReadOptions(&x.ctl, req.Header, e.headerAliases)
	x.nativeClient = x.nativeClient || x.isNativeClient()
	x.shown = sealed.Path(req.Path)
	x.trace = tracecontext.Read(&x.ctl, req.Method, x.shown, x.id)
	return x
}

// lookup returns the route of a path below the version segment. Some clients double the version;
// the second one is removed if a typed route follows. For a provider whose own paths begin with
// /v1 it stays.
// Source: contract/dataplane.md 6.2.
func lookup(method, path string) (llm.Match, string) {
	m := llm.Lookup(method, path)
	if rest, ok := strings.CutPrefix(path, "/v1"); ok && m.Endpoint == llm.Proxy {
		if again := llm.Lookup(method, rest); again.Endpoint != llm.Proxy {
			return again, rest
		}
	}
	return m, path
}

func (x *exchange) surface() fault.Surface {
	if x.unknown {
		return fault.Admin
	}
	if x.match.Endpoint == llm.Messages || x.match.Endpoint == llm.MessagesCountTokens || x.nativeClient {
		return fault.Messages
	}
	if s, ok := x.vendorSurface(); ok {
		return s
	}
	return fault.Model
}

func (x *exchange) close() {
	if x.last != nil {
		x.last.close()
	}
	if x.doc != nil {
		jsonedit.PutDoc(x.doc)
	}
	if x.spool != nil {
		_ = x.spool.Close() // an unnamed file: there is nothing to lose
	}
	for _, s := range x.made {
		_ = s.Close() // likewise
	}
}

// providerError is the code of an access line for an error of the provider.
const providerError = "provider_error"

// accessLine writes the access line of a request. It does not contain bodies, keys or prompts.
func (g *Gateway) accessLine(x *exchange, took time.Duration) {
	if g.Access == nil {
		return
	}
	line := accesslog.Line{
		Time: x.started.Add(took), RequestID: x.id, TraceID: x.trace.ID, Method: x.req.Method, Path: x.shown, Endpoint: string(x.match.Endpoint),
		Status: x.status, Duration: took, Attempts: x.attempts, Remote: x.req.Remote,
	}
	if x.key != nil {
		line.KeyID, line.Workspace = x.key.Principal.ID, x.key.Principal.WorkspaceID
	}
	failed := x.refusal
	if a := x.last; a != nil && a.spec != nil {
		line.Provider, line.Model, line.Tokens = a.spec.ID, a.model, a.log().Tokens()
		line.CostNano, line.CostKnown = a.log().Cost()
		if failed == nil {
			failed = a.fault
		}
	}
	switch {
	case failed != nil:
		line.Error, line.Code, line.Reason = failed.Text(), string(failed.Code), failed.Reason
	case x.status >= 400: // an error of the provider that the client got unchanged
		line.Error, line.Code = "the provider responded with status "+strconv.Itoa(x.status), providerError
	}
	g.Access.Append(&line)
}

func stack() string { return string(debug.Stack()) }
