package app

import (
	"context"
	"math/rand/v2"
	"time"

	"sluice/internal/app/options"
	"sluice/internal/control/logs"
	"sluice/internal/control/resource"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/registry"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway"
	"sluice/internal/gateway/cache/purge"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/nethttp"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/background"
	"sluice/internal/storage/live"
)

// traffic is the data plane, which serves model requests, and what it reads and counts.
type traffic struct {
	*base
	*database
	*requestLog
	*counting
	*upstreams

	directory *live.Directory
	engine    *routing.Engine
	checks    *guardrails.Catalog // the guardrail checks of the program
	cache     gateway.CacheParts  // of responses
	responses *purge.Store        // that of cache
	states    *responsestore.Store
	jobs      *providerjob.Tracker
	gateway   *gateway.Gateway
	tokens    *logs.TokenTrail
	ratings   *logs.HookFeedback
	ingested  *resource.Rate // rate of feedback, logs and spans that applications send
}

// A start waits this long for a replica that lags, and reads it again after each pause.
const (
	replicaWait  = 10 * time.Second
	replicaPause = 100 * time.Millisecond
)

func (a *traffic) openDirectory(ctx context.Context) error {
	a.directory = live.New(a.store, a.box, options.ConfigLimits(a.set), a.log)
	f := a.set.Features
	a.directory.Count(live.LimitOptions{Limiter: a.limits, Meters: a.store, NoBudgets: !f.UsageLimits, NoPolicies: !f.Policy})
	return background.Retry(ctx, replicaWait, replicaPause, a.directory.Load)
}

// slugOf returns the slug of a workspace; empty for an unknown workspace.
func (a *traffic) slugOf(workspaceID string) string {
	if s := a.directory.Current().FindWorkspace(workspaceID); s != nil {
		return s.Slug
	}
	return ""
}

// How long a start and a change wait for price lists. All later changes wait until a change is
// applied, and a revoked key must stop working within a second.
const (
	startPricesWait  = 2 * time.Second
	changePricesWait = 300 * time.Millisecond
)

// preloadPrices reads the price lists of each provider kind before a saved provider of that kind
// comes into force, now and later. So first calls are not reserved for and billed at built-in
// prices, or without a price, instead of the operator's prices.
func (a *traffic) preloadPrices(ctx context.Context) error {
	if set := a.set.Models; set.ProxyURL != "" || set.PricingDir != "" || set.PricingLogStore != "" {
		timeout := startPricesWait
		a.directory.OnNewProviders(ctx, func(ctx context.Context, kinds []string) {
			a.prices.Preload(ctx, a.providerIDs(kinds), timeout)
			timeout = changePricesWait
		})
	}
	return nil
}

func (a *traffic) buildGateway(context.Context) error {
	a.checks = guardrailCatalog()
	a.engine = routing.NewEngine(a.clock, rand.Float64)
	a.states = responsestore.New(a.store, a.clock, a.log)
	metrics := gateway.NewMetrics()
	a.metrics.Register(metrics.Collectors()...)
	if a.access != nil {
		a.metrics.Register(a.access.Collector())
	}
	a.ingested = resource.NewRate(a.set.Server.IngestPerMinute, "feedback, log and span entries")
	a.tokens = logs.NewTokenTrail(a.store, resource.Trail{Off: !a.set.Features.AuditLogs, Clock: a.clock}, a.log)
	engine, deps := a.buildGuardrails(a.checks)
	vaults, err := a.buildVaults()
	if err != nil {
		return err
	}
	a.ratings = logs.NewHookFeedback(a.store, a.clock, a.log)
	a.gateway = gateway.New(gateway.Parts{
		Directory:  func() gateway.Directory { return a.directory.Current() },
		Hasher:     a.hasher,
		Specs:      a.specs,
		Engine:     a.engine,
		Client:     a.client,
		Signers:    a.signers,
		Secrets:    a.secrets,
		Dialect:    openai.Dialect(),
		Dialects:   registry.List(),
		States:     a.states,
		Batches:    &gateway.ManagedBatches{Store: a.store, Leases: a.store, Box: a.box, Retention: time.Duration(a.set.Upstream.BatchRetentionDays) * 24 * time.Hour},
		Jobs:       a.openTracker(),
		Sockets:    nethttp.Dialer{HTTP: a.client.HTTPClient()},
		Guard:      a.guard,
		Guardrails: engine,
		Checks:     a.checks.Table(),
		Cache:      a.cache,
		Vaults:     vaults,
		Feedback:   a.ratings,
		Journal:    a.journal,
		Limiter:    a.limits,
		Prices:     a.prices,
		Tokens:     a.tokens,
		Metrics:    metrics,
		Clock:      a.clock,
		Log:        a.log,
		Access:     a.access,
	}, options.Gateway(a.set, a.version, a.proxies))
	deps.Judge, deps.Ledger = a.gateway.Judge(), a.gateway.CheckLedger()
	return nil
}
