// Package gateway serves model requests: it identifies the caller, chooses targets, calls
// providers, and records each attempt with its usage and cost. Start reading at Gateway.Serve and
// walker.try; each step is a type with its own dependencies. The package does not serve HTTP: an
// HTTP server fills a wire.Request and writes the response.
package gateway

import (
	"log/slog"
	"sync/atomic"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/background"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/gateway/download"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/gateway/intake"
	"sluice/internal/gateway/masking"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/modellist"
	"sluice/internal/gateway/providerjobs"
	"sluice/internal/gateway/realtime"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/tokens"
	"sluice/internal/ops/telemetry/accesslog"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
)

// Directory is an immutable snapshot of the control plane in memory; *live.Snapshot implements
// it. It contains all lookups of a request, so that the request uses one consistent snapshot. Each
// embedded interface belongs to the steps that use it.
type Directory interface {
	intake.Keys
	workspaceDirectory
	configDirectory
	accountDirectory
	promptDirectory
	limitDirectory
	guardrails.Directory
}

// journal stores one record per attempt, the ledger entries that no record closes, and the results of
// guardrails that arrive after their record. When a method returns nil, its data survives a crash of the process.
type journal interface {
	Append(a *record.Attempt) error
	AppendLine(l *ledger.Entry) error
	AppendHooks(h *record.LateHooks) error
}

// prices looks up what models cost. *catalog.PriceList implements it.
type prices interface {
	metering.Prices
	Has(provider, model string, a *catalog.PriceOverrides) bool
	Names(provider string, now time.Time) []string
}

// Parts are the dependencies of a Gateway. All are required unless nil is documented. They must not
// change after New, which copies some of them.
type Parts struct {
	Directory  func() Directory // the newest snapshot
	Hasher     *keys.Hasher
	Specs      *provider.Table
	Engine     *routing.Engine
	Client     *transport.Client
	Signers    *sign.Set
	Secrets    Secrets              // for accounts that map fields to secret managers; nil if none does
	Dialect    *dialect.Dialect     // OpenAI's format, which callers use
	Dialects   []*dialect.Dialect   // all formats of callers and providers
	Jobs       *providerjob.Tracker // for batches, fine-tuning jobs and videos; nil disables tracking
	Batches    *ManagedBatches      // for batches that the gateway manages; nil manages none
	States     *responsestore.Store // for responses of providers that do not store them; nil stores nothing
	Sockets    realtime.Dialer      // for realtime calls
	Guard      *netguard.Guard
	Guardrails *guardrails.Engine // nil runs no guardrails
	Checks     *guardrail.Table   // the checks that inline guardrails may name
	Cache      CacheParts         // of responses
	Vaults     *placeholder.Store // values that reversible redaction hides; nil restores none
	Feedback   feedbackSink       // of hooks; nil drops it
	Journal    journal
	Limiter    metering.Limiter
	Prices     prices
	Tokens     intake.RefusedTokens // receives rejected JWTs; nil ignores them
	Metrics    *Metrics
	Clock      ident.Clock
	Log        *slog.Logger
	Access     *accesslog.Log // one line for each request; nil disables it
}

// Settings are the limits and switches of the request path. The zero value is not usable; start
// with DefaultSettings.
type Settings struct {
	SpoolDir         string        // directory for spooled bodies over 1 MiB
	MaxJSONBytes     int64         // a larger JSON body is rejected with 413
	MaxUploadBytes   int64         // a larger upload is rejected with 413
	MaxResponseBytes int64         // a larger buffered JSON response becomes 502
	BodyLogBytes     int           // maximum bytes of a body in the record
	HeadTimeout      time.Duration // until the upstream's response header; 0 means none
	IdleTimeout      time.Duration // between two reads of an upstream body
	HeaderAliases    []string      // additional prefixes that replace x-gateway-, in lower case, with the dash
	IgnoreHeaders    []string      // client headers that pass-through does not relay
	MetadataFrom     intake.MetadataHeaders
	TraceContext     bool // providers receive the trace context
	AllowUnpriced    bool // calls with unknown cost are allowed even if a cost budget applies
	BlockInline      bool // reject configuration in headers
	ConfigLimits     routing.Limits
	UserAgent        string            // sent upstream on typed routes
	Abandoned        disconnect.Limits // streams whose clients disconnected
	// AbandonedAnswers limits buffered responses whose clients disconnected or whose time is
	// over.
	AbandonedAnswers disconnect.Limits
	Background       background.Limits // responses that providers continue after they answered
	ModelLists       ModelLists        // of providers whose models the catalog does not contain
	GuardrailsOff    bool              // GUARDRAILS_ENABLED=OFF: no guardrail runs
	TrustedProxies   wire.Proxies      // proxies that are trusted to report client addresses; nil trusts none
}

// DefaultSettings returns settings for a single machine. Spooled bodies go to the system's
// temporary directory.
func DefaultSettings() Settings {
	return Settings{
		MaxJSONBytes: 64 << 20, MaxUploadBytes: 512 << 20, MaxResponseBytes: 256 << 20, BodyLogBytes: 256 << 10,
		IdleTimeout: 5 * time.Minute, UserAgent: "sluice",
		AbandonedAnswers: disconnect.Limits{Max: 256, Bytes: 64 << 20, Time: 10 * time.Minute},
		Background:       background.Limits{Responses: 10_000, Time: 24 * time.Hour, Pause: 2 * time.Second, MaxPause: 15 * time.Second},
		ModelLists:       ModelLists{Period: time.Minute, Wait: 2 * time.Second, Timeout: 10 * time.Second},
	}
}

// Gateway serves model requests. Each step of a request is a part with its own dependencies.
// Safe for concurrent use.
type Gateway struct {
	Parts
	set Settings
	sharedParts
	open    atomic.Int64 // requests being served
	stopped atomic.Bool  // the gateway itself cancels calls that end now
	requestSteps
	attemptSteps
}

// requestSteps are the steps of a request, from its head to its response, without its attempts.
type requestSteps struct {
	admission     admission
	bodies        bodyReader
	prompts       promptRenderer
	configs       configSelector
	guardrails    guardrailStep
	exchanges     exchanges
	walker        walker
	catalogue     modelCatalogue
	conversations conversations
	batches       managedBatches
	clientHeaders clientHeaders
	responder     responder
}

// attemptSteps are the steps of an attempt at one target.
type attemptSteps struct {
	credentials     credentialResolver
	upstreamHeaders upstreamHeaders
	planner         callPlanner
	shaper          shaper
	translator      translator
	estimator       estimator
	caller          upstreamCaller
	sender          sender
	followUps       followUpCaller
	responses       responseReader
	receiver        receiver
	backgroundJobs  backgroundTracker
	recorder        recorder
	accountant      accountant
	deliverer       deliverer
	jobUpstream     jobUpstream
	cache           responseCache
	promptCache     promptCacher
	inner           *innerCaller
}

// sharedParts are the parts that several steps use. New creates them.
type sharedParts struct {
	inlineConfigs *intake.InlineConfigs
	callers       *intake.Authenticator
	rules         ruleCache
	urls          *netguard.URLCache
	dialects      dialectSet
	meter         *metering.Meter
	counter       *tokens.Counter
	headerMask    *masking.Headers
	abandoned     *disconnect.Calls
	background    *background.Poller
	jobs          *providerjobs.Jobs
	downloads     *download.Downloader
	models        *modellist.Lister
	modelLists    *modellist.Lists // nil reads no lists of providers
	refusedParams refusedParams
}

// New returns a gateway that uses the given parts.
func New(p Parts, s Settings) *Gateway {
	g := &Gateway{Parts: p, set: s}
	g.inlineConfigs = intake.NewInlineConfigs(s.ConfigLimits, s.BlockInline)
	g.callers = &intake.Authenticator{Hasher: p.Hasher, Aliases: s.HeaderAliases, Metadata: s.MetadataFrom, Tokens: p.Tokens}
	g.urls = netguard.NewURLCache(p.Guard)
	g.dialects = newDialectSet(p.Dialects)
	g.counter = tokens.New()
	g.abandoned = disconnect.New(s.Abandoned, s.AbandonedAnswers)
	g.background = background.New(s.Background, p.Clock, p.Log)
	g.headerMask = masking.NewHeaders(p.Specs, s.HeaderAliases)
	g.meter = g.newMeter()
	g.downloads = download.New(p.Client, g.urls, s.UserAgent)
	g.jobs = newProviderJobs(g)
	g.models, g.modelLists = newLister(g)
	g.assemble()
	return g
}

// Abandoned returns the provider calls that are still read after their clients disconnected.
func (g *Gateway) Abandoned() *disconnect.Calls { return g.abandoned }

// newMeter returns a meter that uses the parts of the gateway.
func (g *Gateway) newMeter() *metering.Meter {
	return metering.New(metering.Deps{
		Limiter: g.Limiter, Prices: g.Prices, Journal: g.Journal, Counter: g.counter, Clock: g.Clock, Log: g.Log, AllowUnpriced: g.set.AllowUnpriced,
	})
}

// Open returns the number of requests being served. Draining uses it.
func (g *Gateway) Open() int64 { return g.open.Load() }
