// Package dataplane is the life of one model request: who calls, what they ask,
// which targets may answer, what went up and came down, and what is recorded of
// it. Serve and try read like a page; each step is a function in its own file.
// Nothing here knows net/http: a front fills a wire.Request and takes the answer.
package dataplane

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/catalog"
	"sluice/internal/credential"
	"sluice/internal/dialect"
	"sluice/internal/ident"
	"sluice/internal/jobs"
	"sluice/internal/keys"
	"sluice/internal/ledger"
	"sluice/internal/prompt"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
	"sluice/internal/quota"
	"sluice/internal/record"
	"sluice/internal/routing"
	"sluice/internal/telemetry/accesslog"
	"sluice/internal/tenant"
	"sluice/internal/tokens"
	"sluice/internal/wire"
)

// Directory is the control plane at one moment: immutable, in memory; *live.Snapshot is one.
// It is as wide as what a request looks up, so that all of a request sees the same moment.
type Directory interface {
	FindKey(h keys.Hash) *keys.Entry
	FindWorkspace(id string) *tenant.Scope
	FindConfig(workspace, name string) (doc *routing.Config, id, slug string, ok bool)
	FindAccount(workspace, slug string) *credential.Account
	Accounts(workspace string) []*credential.Account
	FindPrompt(workspace, name string) *prompt.Saved // by slug or id; nil when there is none
	Partials(workspace string) prompt.Source
	Limits(kind, id string) *quota.Plan // never nil
	IntegrationLimits(integration, workspace string) *quota.Plan
	Policies(workspace string) *quota.Policies
	Agreement(account *credential.Account) *catalog.PriceOverrides // nil: what the list says; so for nil
}

// journal takes one record per attempt, and the lines of the ledger that no record
// closes. When it returns, what it took outlives the process.
type journal interface {
	Append(a *record.Attempt) error
	AppendLine(l *ledger.Entry) error
}

// Parts are what a Gateway is made of; all are needed.
type Parts struct {
	Directory func() Directory // the newest snapshot
	Hasher    *keys.Hasher
	Specs     *provider.Table
	Engine    *routing.Engine
	Client    *transport.Client
	Signers   *sign.Set
	Secrets   Secrets            // of accounts that map fields to secret managers; nil where none does
	Dialect   *dialect.Dialect   // OpenAI's, which callers speak
	Dialects  []*dialect.Dialect // all shapes that callers and providers speak
	Jobs      *jobs.Tracker      // of batches, fine-tuning jobs and videos; nil follows none
	States    *ResponseStore     // of responses for providers that keep none; nil keeps nothing
	Sockets   Dialer             // for realtime calls
	Guard     *netguard.Guard
	Journal   journal
	Limiter   limiter
	Prices    prices
	Tokens    refusals // of JWTs; nil where refused JWTs are of no interest
	Metrics   *Metrics
	Clock     ident.Clock
	Log       *slog.Logger
	Access    *accesslog.Log // one line for each request; nil for none
}

// Settings are the limits and switches of the request path. Zero values are not
// usable; take DefaultSettings.
type Settings struct {
	SpoolDir         string        // where bodies over 1 MiB are spooled
	MaxJSONBytes     int64         // a larger JSON body is 413
	MaxUploadBytes   int64         // a larger upload is 413
	MaxResponseBytes int64         // a larger JSON reply that must be held is 502
	BodyLogBytes     int           // of a body kept in the record
	HeadTimeout      time.Duration // until the upstream's response head; 0 means none
	IdleTimeout      time.Duration // between two reads of an upstream body
	HeaderAliases    []string      // further prefixes read like x-gateway-, lower case, with the dash
	IgnoreHeaders    []string      // client headers that pass-through does not relay
	MetadataFrom     []MetadataHeader
	TraceContext     bool // providers are told of the trace
	AllowUnpriced    bool // calls whose cost is unknown are let through where a cost budget applies
	BlockInline      bool // refuse configuration in headers
	ConfigLimits     routing.Limits
	UserAgent        string    // sent upstream on typed routes
	Abandoned        Abandoned // streams whose callers leave
	// AbandonedAnswers are whole answers whose callers leave or whose time is over.
	AbandonedAnswers AbandonedAnswers
	Background       Background   // responses that providers work on after they answered
	ModelLists       ModelLists   // of providers whose models the catalog does not know
	GuardrailsOff    bool         // GUARDRAILS_ENABLED=OFF: guardrails bind no call
	TrustedProxies   wire.Proxies // who is believed about the addresses of callers; nil for nobody
}

// DefaultSettings are good for a laptop; SpoolDir is the system's.
func DefaultSettings() Settings {
	return Settings{
		MaxJSONBytes: 64 << 20, MaxUploadBytes: 512 << 20, MaxResponseBytes: 256 << 20, BodyLogBytes: 256 << 10,
		IdleTimeout: 5 * time.Minute, UserAgent: "sluice",
		AbandonedAnswers: AbandonedAnswers{Max: 256, Bytes: 64 << 20, Time: 10 * time.Minute},
		Background:       Background{Responses: 10_000, Time: 24 * time.Hour, Pause: 2 * time.Second, MaxPause: 15 * time.Second},
		ModelLists:       ModelLists{Period: time.Minute, Wait: 2 * time.Second, Timeout: 10 * time.Second},
	}
}

// Gateway serves model requests. Safe for concurrent use.
type Gateway struct {
	Parts
	set      Settings
	configs  *cache[string, *routing.Config] // inline ones, by their text
	rules    ruleCache
	urls     *cache[string, struct{}] // that the guard has let pass
	plans    plans
	charges  chargeCache
	profiles *cache[profileKey, profiled]
	dialects dialectSet
	lines    *dialect.FileLines
	counter  *tokens.Counter
	// secretHeaders are the names of headers in which providers take credentials.
	secretHeaders map[string]bool
	open          atomic.Int64 // requests being served
	lingering     detachedStreams
	answersLeft   detachedStreams // whole answers
	followers     *backgroundPoller
	contexts      *contexts
	jobFiles      *cache[string, *jobs.Input]                                             // of files for jobs, by fileKey
	jobAccess     *cache[string, *jobAccess]                                              // of private jobs, by jobs.Key
	inside        func(context.Context, *keys.Entry, *jobAccess, string) (*inside, error) // callInside; a field, since rooms are made by what calls it
	modelLists    *providerModels
	recordDrops   droppedRecords
	refusedParams refusedParams
	unguarded     sync.Once   // the log was told that guardrails are not run
	stopped       atomic.Bool // calls that end now are cut by the gateway itself
}

// New makes a gateway of its parts.
func New(p Parts, s Settings) *Gateway {
	t := newDialectSet(p.Dialects)
	g := &Gateway{
		Parts:         p,
		set:           s,
		configs:       newCache[string, *routing.Config](inlineConfigs),
		urls:          newCache[string, struct{}](passedURLs),
		profiles:      newCache[profileKey, profiled](maxProfiles),
		dialects:      t,
		lines:         t.lines(),
		counter:       tokens.New(),
		followers:     newFollowers(),
		contexts:      newContexts(),
		jobFiles:      newCache[string, *jobs.Input](filesCounted),
		jobAccess:     newCache[string, *jobAccess](jobs.MaxOpen),
		secretHeaders: secretHeaders(p.Specs),
	}
	g.inside = g.callInside
	g.modelLists = newProviderModels(g)
	return g
}

// Open is the number of requests being served, for draining.
func (g *Gateway) Open() int64 { return g.open.Load() }
