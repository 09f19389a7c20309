package dataplane

import (
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/keys"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/routing"
	"sluice/internal/sealed"
	"sluice/internal/splice"
	"sluice/internal/telemetry/accesslog"
	"sluice/internal/tenant"
	"sluice/internal/wire"
)

// exchange is one request of a client and everything found out about it. It and
// its attempts belong to the goroutine that serves the request, until that is served.
type exchange struct {
	g            *Gateway
	scratch      *scratch
	req          *wire.Request
	out          wire.Responder
	dir          Directory
	id           string
	started      time.Time
	walked       time.Time // when its first attempt began; zero before
	match        llm.Match
	path         string     // escaped, below /v1
	alias        *llm.Alias // how its path begins, nil for none of the prefixes there are
	deployed     string     // the deployment that stands in its path, which is the model
	shown        string     // the whole path, as logs may show it
	unknown      bool       // nothing is at its path, and its caller is one of the administration
	nativeClient bool       // a client of Anthropic's, on a path where others call too
	ctl          controls
	trace        trace
	key          *keys.Entry
	scope        *tenant.Scope
	metadata     map[string]string

	spool         *wire.Spool   // the whole body, when it was held
	doc           *splice.Doc   // its top level, when it is a JSON object
	form          *splice.Form  // its parts, when it is a form
	made          []*wire.Spool // bodies that were made of it
	direct        *wire.Payload // the body as it comes, when it is not held
	passes        *limitedBody  // what direct reads
	bodyNotParsed bool          // there is a body, and nobody knows what model it names
	modelInQuery  bool          // the model stands in the query

	replay *replayContext // what it repeats, nil for a caller's own request
	prompt *invocation    // the saved prompt that is run, nil for other requests

	config   *routing.Config
	configID string      // slug of a saved config, "inline", or empty for headers alone
	savedAs  quota.Named // the saved config; empty for others
	locked   bool        // the key's own config may not be overridden
	setAside *setAside   // the default config in whose place the request has another; nil for none
	account  string      // "@slug" of the body's model field, without the "@"
	model    string      // the body's model without it
	user     string      // the body's user field
	stream   bool

	metered bool         // held against limits, and put on the ledger
	limits  callerLimits // those of its caller
	entry   limitStage   // how far these were asked
	holds   []quota.Hold // taken from the limits of the caller

	attempts       int
	partial        *partialResponse  // what an earlier target's stream said before it died
	streamError    *fault.Error      // why a stream that the client has a part of is not whole
	cutInsideEvent bool              // that part ends inside an event
	sequence       int64             // number of the next event of that part, where events are numbered
	partialStream  *streamTranslator // that part in the caller's words; nil when it came in them
	last           *attempt          // whose answer is given
	refusal        *fault.Error
	headSent       bool
	status         int
}

func (g *Gateway) newExchange(req *wire.Request, out wire.Responder) *exchange {
	g.open.Add(1)
	if len(g.set.TrustedProxies) > 0 {
		req.Remote = g.set.TrustedProxies.Client(req.Remote, req.Header.Values("x-forwarded-for")...)
	}
	r, now := acquireScratch(), g.Clock.Now()
	x := &r.exchange
	x.g, x.scratch, x.req, x.out, x.dir, x.id, x.started = g, r, req, out, g.Directory(), ident.NewIDAt(now), now
	addr := llm.Locate(req.Method, req.Path)
	x.alias, x.deployed = addr.Alias, addr.Deployment
	x.match, x.path = lookup(req.Method, addr.Rest)
	if x.match.Endpoint == llm.Proxy {
		if m, ok := lookupAnthropicBatch(req.Method, x.path); ok {
			x.match, x.nativeClient = m, true
		}
	}
	x.ctl.read(req.Header, g.set.HeaderAliases)
	x.nativeClient = x.nativeClient || x.isNativeClient()
	x.shown = sealed.Path(req.Path)
	x.trace = readTrace(&x.ctl, req.Method, x.shown, x.id)
	return x
}

// lookup finds the route of a path below the version segment. A doubled version,
// which some clients produce, counts once where a typed route follows; to providers
// whose own paths begin with /v1 it means what it says.
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
		docs.Put(x.doc)
	}
	if x.spool != nil {
		_ = x.spool.Close() // an unnamed file: nothing to lose
	}
	for _, s := range x.made {
		_ = s.Close() // likewise
	}
}

// providerError is the code of an access line whose error came from the provider.
const providerError = "provider_error"

// accessLine is the one line that a request leaves in the program's log. Bodies,
// keys and prompts are not in it.
func (g *Gateway) accessLine(x *exchange, took time.Duration) {
	if g.Access == nil {
		return
	}
	line := accesslog.Line{
		Time: x.started.Add(took), RequestID: x.id, TraceID: x.trace.id, Method: x.req.Method, Path: x.shown, Endpoint: string(x.match.Endpoint),
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
	case x.status >= 400: // an error of the provider that its client got as it came
		line.Error, line.Code = "the provider responded with status "+strconv.Itoa(x.status), providerError
	}
	g.Access.Append(&line)
}

func stack() string { return string(debug.Stack()) }
