// Package app assembles the program from its components, runs them and stops them. Start
// reading at New, which lists the components of a running gateway in order. No other package
// connects components to each other.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"sluice/internal/control"
	"sluice/internal/control/jobs"
	"sluice/internal/http1/server"
	"sluice/internal/kernel/ident"
	"sluice/internal/ops/config"
	"sluice/internal/ops/process"
	"sluice/internal/ops/telemetry/accesslog"
)

// App is one running gateway. Each embedded part opens one group of components, and embeds the parts
// that it needs.
type App struct {
	*base
	*database
	*requestLog
	*counting
	*upstreams
	*traffic

	admin    *control.Admin
	worker   *jobs.Runner
	server   *server.Server
	listener net.Listener
	leaving  atomic.Bool // the health check reports "draining", so that callers go to other nodes
	draining atomic.Bool // new requests are no longer accepted
}

// Options configures what is not a setting.
type Options struct {
	Version string // "1.0.0"
	Log     *slog.Logger
	Demo    bool        // register the scripted provider
	HasGOGC bool        // the operator has set GOGC: do not tune the garbage collector
	Clock   ident.Clock // nil means the system clock; tests set their own
	// AccessLog receives one line per request; nil disables it. Run writes the lines out.
	AccessLog *accesslog.Log
	// SeedDays is the number of days of synthetic past traffic for a demonstration, at most
	// demo.MaxTrafficDays. Each data directory gets the traffic once. 0 adds none.
	SeedDays int

	// OnBootstrap is called with the first keys as soon as they are stored, only on the first
	// start. The keys cannot be shown again, even if a later step of the start fails.
	OnBootstrap func(FirstKeys)
}

// connect returns the parts of a gateway, each with the parts that it needs. Nothing is open yet.
func connect(b *base) *App {
	db := &database{base: b}
	logs := &requestLog{base: b, database: db}
	counts := &counting{base: b, database: db, requestLog: logs}
	up := &upstreams{base: b}
	models := &traffic{base: b, database: db, requestLog: logs, counting: counts, upstreams: up}
	logs.workspaceSlug = models.slugOf
	return &App{base: b, database: db, requestLog: logs, counting: counts, upstreams: up, traffic: models}
}

// New opens all components and the listener. Run serves, and the caller must call Close. On an
// error New closes what it has opened.
func New(ctx context.Context, s config.Settings, o Options) (_ *App, err error) {
	a := connect(newBase(s, o))
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	for _, step := range [...]func(context.Context) error{
		a.lockData, // from here on no other gateway uses the data directory
		a.openData,
		a.openStore,
		a.openSealer,
		a.foundDeployment,
		a.startDemo,
		a.openLogs,
		a.openExports,
		a.openLimits,
		a.openLedger,
		a.openDirectory,
		a.openProviders,
		a.openCatalog,
		a.preloadPrices,
		a.openCache,
		a.buildGateway,
		a.buildAdmin,
		a.buildMetrics,
		a.openTelemetry,
		a.openListener, // last, when everything that a call needs is open
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Addr returns the address of the listener, for example "127.0.0.1:8787".
func (a *App) Addr() string { return a.listener.Addr().String() }

// Run serves until ctx ends, then stops in order. For DRAIN_DELAY it directs callers to other
// nodes. Then it accepts no new requests and lets the running ones finish within
// DRAIN_TIMEOUT. Last it stops the components that requests write to.
func (a *App) Run(ctx context.Context) error {
	g := &a.services
	g.Deadline = a.set.Server.DrainDelay + a.set.Server.DrainTimeout + 10*time.Second
	if !a.options.HasGOGC {
		g.Add("heap", process.TuneHeap)
	}
	if a.access != nil { // stops last, after the lines of the last requests
		g.Add("access log", a.access.Run)
	}
	if a.rates != nil { // stops late, when everything is counted
		g.Add("rates", a.rates.Run)
	}
	g.Add("store", a.store.Run)
	g.Add("audit trail", a.maintainAudit)
	g.Add("rejected tokens", a.tokens.Run)
	g.Add("feedback of guardrails", a.ratings.Run)
	g.Add("stored responses", a.states.Run)
	g.Add("journal", a.journal.Run)
	if len(a.telemetry) > 0 {
		g.Add("telemetry", a.sendTelemetry)
	}
	g.Add("request log", a.runIngest)
	g.Add("request log feedback", a.feedback.Run)
	if a.options.Demo && a.options.SeedDays > 0 {
		g.Add("demo traffic", a.demoTraffic().Run)
	}
	if a.shared != nil { // stops after the ledger, which reports to it what it stores
		g.Add("limits", a.shared.Run)
	}
	g.Add("ledger", a.spend.Run)
	g.Add("price lists", a.prices.Run)
	g.Add("retention", a.retention().Run)
	g.Add("live snapshot", a.directory.Run)
	if a.set.Caching.Store != config.RedisStore { // in Redis, the node that receives a purge applies it for all
		g.Add("purges of the response cache", a.responses.Follow)
	}
	g.Add("worker", a.worker.Run)
	g.Add("log exports", a.exports.Run)
	g.Add("background responses", a.gateway.Background().Run)
	g.Add("open jobs", a.followJobs)
	g.Add("model lists", a.gateway.ReadModelLists)
	g.Add("listener", a.serve)
	g.Add("batches", a.gateway.RunBatches) // stops first, because draining waits for its calls
	return g.Run(ctx)
}
