// Package app assembles the program from its components, runs them and stops them. Start
// reading at New, which lists the components of a running gateway in order. No other package
// connects components to each other.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"sluice/internal/admin"
	"sluice/internal/app/options"
	"sluice/internal/audit"
	"sluice/internal/background"
	"sluice/internal/catalog"
	"sluice/internal/cluster/redis"
	"sluice/internal/config"
	"sluice/internal/control/logs"
	"sluice/internal/dataplane"
	"sluice/internal/dataplane/front"
	"sluice/internal/dataplane/front/h1"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/registry"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/ident"
	"sluice/internal/jobs"
	"sluice/internal/journal"
	"sluice/internal/keys"
	"sluice/internal/limits/ratefile"
	"sluice/internal/live"
	"sluice/internal/logstore"
	"sluice/internal/logstore/export"
	"sluice/internal/logstore/feedback"
	"sluice/internal/logstore/objects"
	"sluice/internal/ops/datadir"
	"sluice/internal/ops/hint"
	"sluice/internal/ops/process"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
	"sluice/internal/record"
	"sluice/internal/resource"
	"sluice/internal/routing"
	"sluice/internal/sealed"
	"sluice/internal/secretref"
	"sluice/internal/spend"
	"sluice/internal/storage/requestlog/retention"
	"sluice/internal/store"
	"sluice/internal/telemetry"
	"sluice/internal/telemetry/accesslog"
	"sluice/internal/tenant"
	"sluice/internal/wire"
	"sluice/internal/worker"
)

// App is one running gateway.
type App struct {
	set     config.Settings
	version string
	log     *slog.Logger
	clock   ident.Clock

	box       *sealed.Sealer
	store     *store.Store
	hasher    *keys.Hasher
	founded   func(FirstKeys) // Options.OnBootstrap; may be nil
	signer    *audit.Signer
	proxies   wire.Proxies
	directory *live.Directory
	limits    limiter
	shared    *redis.Limiter // same as limits when nodes share them through Redis; else nil
	rates     *ratefile.File // stored rates of a node that does not use Redis; else nil
	journal   *journal.Journal
	records   *journal.Records
	lines     *journal.Lines
	spend     *spend.Consumer
	logs      *logstore.Store
	bucket    *objects.Bucket // stores bodies; nil when files store them
	feedback  *feedback.Follower
	exports   *export.Runner   // exports the log
	exported  export.Downloads // files that exports write
	specs     *provider.Table
	guard     *netguard.Guard
	engine    *routing.Engine
	client    *transport.Client
	secrets   *secretref.Reader
	states    *responsestore.Store
	jobs      *jobs.Tracker
	gateway   *dataplane.Gateway
	metrics   *telemetry.Registry
	catalog   *catalog.Catalog
	prices    *catalog.PriceList
	admin     *admin.Admin
	worker    *worker.Runner
	tokens    *logs.TokenTrail
	ingested  *resource.Rate // rate of feedback, logs and spans that applications send
	server    *h1.Server
	listener  net.Listener

	demo      bool
	seedDays  int // days of demo traffic
	hasGOGC   bool
	access    *accesslog.Log   // nil without an access log
	services  background.Group // steps of New add services, and Run the others
	telemetry []exporter       // services that export to collectors
	leaving   atomic.Bool      // the health check reports "draining", so that callers go to other nodes
	draining  atomic.Bool      // new requests are no longer accepted
	closers   []io.Closer      // resources that New opened; closed in reverse order
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

// New opens all components and the listener. Run serves, and the caller must call Close. On an
// error New closes what it has opened.
func New(ctx context.Context, s config.Settings, o Options) (_ *App, err error) {
	a := &App{set: s, version: o.Version, log: o.Log, clock: o.Clock, metrics: telemetry.NewRegistry(), demo: o.Demo, seedDays: o.SeedDays, hasGOGC: o.HasGOGC, founded: o.OnBootstrap, access: o.AccessLog}
	if a.clock == nil {
		a.clock = ident.System{}
	}
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

func (a *App) lockData(context.Context) error {
	lock, err := datadir.Lock(a.set.Data.Dir)
	if err != nil {
		return err
	}
	a.closers = append(a.closers, lock)
	return nil
}

func (a *App) openData(context.Context) error { return datadir.Create(a.set.Data.Dir) }

func (a *App) openStore(ctx context.Context) (err error) {
	a.store, err = store.Open(ctx, options.Store(a.set), a.log)
	if err != nil {
		return hint.WithDatabase(options.Store(a.set), err)
	}
	a.closers = append(a.closers, a.store)
	if err := a.migrate(ctx); err != nil {
		return err
	}
	return lostDatabase(a.set).Check(ctx, a.store)
}

// openLogs opens the journal and the log store that consumes it.
func (a *App) openLogs(ctx context.Context) (err error) {
	a.journal, err = journal.Open(journal.Options{
		Dir: options.JournalDir(a.set), MaxRecordBytes: recordBytes(a.set.Logs.BodyMaxBytes()),
		MaxBytes: int64(a.set.Logs.JournalMaxMB) << 20, Sync: a.set.Logs.JournalSync, Clock: a.clock, Logger: a.log,
	})
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	a.closers = append(a.closers, a.journal)
	a.records, a.lines = a.journal.Records(), a.journal.Lines()
	rows, err := a.openRows(ctx)
	if err != nil {
		return fmt.Errorf("open request log: %w", err)
	}
	bodyStore, err := a.openBodies()
	if err != nil {
		return err
	}
	a.logs = logstore.New(a.records, rows, bodyStore, logstore.Options{Node: a.nodeName(), Logger: a.log})
	a.feedback = feedback.New(a.store, rows, a.log)
	return nil
}

// retention returns the job that deletes expired logs.
func (a *App) retention() retention.Job {
	return retention.Job{
		Logs: a.logs, Deployment: options.Retention(a.set.Logs), Clock: a.clock, Log: a.log,
		Overrides: func(ctx context.Context) (map[string]tenant.Retention, error) {
			return logs.Retention(ctx, a.store)
		},
	}
}

// recordBytes returns the maximum size of a record in the journal: all bodies at their maximum
// size plus 1 MiB for the other fields, and at least 4 MiB.
func recordBytes(bodyMax int) int {
	const minBytes, rest = 4 << 20, 1 << 20
	return max(minBytes, len(new(record.Attempt).Bodies())*bodyMax+rest)
}

// A start waits this long for a replica that lags, and reads it again after each pause.
const (
	replicaWait  = 10 * time.Second
	replicaPause = 100 * time.Millisecond
)

func (a *App) openDirectory(ctx context.Context) error {
	a.directory = live.New(a.store, a.box, options.ConfigLimits(a.set), a.log)
	f := a.set.Features
	a.directory.Count(live.LimitOptions{Limiter: a.limits, Meters: a.store, NoBudgets: !f.UsageLimits, NoPolicies: !f.Policy})
	return background.Retry(ctx, replicaWait, replicaPause, a.directory.Load)
}

// openProviders loads the provider specifications and creates the upstream client.
func (a *App) openProviders(context.Context) (err error) {
	if a.specs, err = provider.Load(); err != nil {
		return fmt.Errorf("load provider specifications: %w", err)
	}
	a.guard = netguard.New(a.trustedHosts()).WithKeyHosts(a.set.Security.StoredKeyHosts)
	a.client = transport.New(options.Transport(a.set, a.guard))
	a.closers = append(a.closers, closerFunc(a.client.Close))
	return nil
}

func (a *App) buildGateway(context.Context) error {
	a.engine = routing.NewEngine(a.clock, rand.Float64)
	a.states = responsestore.New(a.store, a.clock, a.log)
	metrics := dataplane.NewMetrics()
	a.metrics.Register(metrics.Collectors()...)
	if a.access != nil {
		a.metrics.Register(a.access.Collector())
	}
	signers := sign.New(options.Sign(a.set, a.client.HTTPClient()))
	a.secrets = secretref.New(options.SecretManagers(a.set, a.client.HTTPClient(), a.guard, signers, a.clock, a.log))
	a.closers = append(a.closers, closerFunc(a.secrets.Close))
	a.ingested = resource.NewRate(a.set.Server.IngestPerMinute, "feedback, log and span entries")
	a.tokens = logs.NewTokenTrail(a.store, resource.Trail{Off: !a.set.Features.AuditLogs, Clock: a.clock}, a.log)
	a.gateway = dataplane.New(dataplane.Parts{
		Directory: func() dataplane.Directory { return a.directory.Current() },
		Hasher:    a.hasher,
		Specs:     a.specs,
		Engine:    a.engine,
		Client:    a.client,
		Signers:   signers,
		Secrets:   a.secrets,
		Dialect:   openai.Dialect(),
		Dialects:  registry.List(),
		States:    a.states,
		Jobs:      a.openTracker(),
		Sockets:   front.Dialer{HTTP: a.client.HTTPClient()},
		Guard:     a.guard,
		Journal:   a.journal,
		Limiter:   a.limits,
		Prices:    a.prices,
		Tokens:    a.tokens,
		Metrics:   metrics,
		Clock:     a.clock,
		Log:       a.log,
		Access:    a.access,
	}, options.Gateway(a.set, a.version, a.proxies))
	return nil
}

func (a *App) openListener(ctx context.Context) (err error) {
	if a.server, err = a.newServer(a.newRouter()); err != nil {
		return err
	}
	if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", a.set.Server.Address()); err != nil {
		return hint.Listener(err)
	}
	a.closers = append(a.closers, closerFunc(func() { _ = a.listener.Close() })) // an error means that Shutdown has closed it already
	return nil
}

// Addr returns the address of the listener, for example "127.0.0.1:8787".
func (a *App) Addr() string { return a.listener.Addr().String() }

// Run serves until ctx ends, then stops in order. For DRAIN_DELAY it directs callers to other
// nodes. Then it accepts no new requests and lets the running ones finish within
// DRAIN_TIMEOUT. Last it stops the components that requests write to.
func (a *App) Run(ctx context.Context) error {
	g := &a.services
	g.Deadline = a.set.Server.DrainDelay + a.set.Server.DrainTimeout + 10*time.Second
	if !a.hasGOGC {
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
	g.Add("stored responses", a.states.Run)
	g.Add("journal", a.journal.Run)
	if len(a.telemetry) > 0 {
		g.Add("telemetry", a.sendTelemetry)
	}
	g.Add("request log", a.runIngest)
	g.Add("request log feedback", a.feedback.Run)
	if a.demo && a.seedDays > 0 {
		g.Add("demo traffic", a.demoTraffic().Run)
	}
	if a.shared != nil { // stops after the ledger, which reports to it what it stores
		g.Add("limits", a.shared.Run)
	}
	g.Add("ledger", a.spend.Run)
	g.Add("price lists", a.prices.Run)
	g.Add("retention", a.retention().Run)
	g.Add("live snapshot", a.directory.Run)
	g.Add("worker", a.worker.Run)
	g.Add("log exports", a.exports.Run)
	g.Add("background responses", a.gateway.Background().Run)
	g.Add("open jobs", a.followJobs)
	g.Add("model lists", a.gateway.ReadModelLists)
	g.Add("listener", a.serve)
	return g.Run(ctx)
}

// cutGrace is how long calls that outlast DRAIN_TIMEOUT may take to notify their callers. They
// may take the same time again to record their outcome.
const cutGrace = time.Second

// serve accepts requests until ctx ends or the listener fails, then lets the running ones
// finish.
func (a *App) serve(ctx context.Context) error {
	calls, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	failed := make(chan error, 1)
	go func() { failed <- a.server.Serve(calls, a.listener) }()
	a.log.Info("listening", "address", a.Addr(), "tls", a.set.TLS.Enabled())
	if !a.set.TLS.Enabled() && isReachable(a.listener.Addr()) {
		a.log.Warn("listening without TLS on an address that other machines can reach; keys and prompts are not encrypted unless a proxy adds TLS", "address", a.Addr())
	}
	var broken error
	select {
	case broken = <-failed: // Run returns it at the end
		a.log.Error("listener failed; shutting down")
	case <-ctx.Done():
		broken = a.awaitDrainDelay(failed)
	}
	a.leaving.Store(true)
	a.draining.Store(true)
	a.log.Info("draining", "open_requests", a.gateway.Open(), "responses_in_background", a.gateway.Background().Len())
	a.gateway.Abandoned().Cancel() // no caller waits for these calls
	return errors.Join(broken, a.drain(context.WithoutCancel(ctx), end))
}

// awaitDrainDelay continues to serve for DRAIN_DELAY, or until the listener fails; it returns
// that error. Meanwhile the health check reports "draining" and each connection closes after
// its response, so that callers go to other nodes.
func (a *App) awaitDrainDelay(failed <-chan error) error {
	delay := a.set.Server.DrainDelay
	if delay == 0 {
		return nil
	}
	a.leaving.Store(true)
	a.server.DrainConnections()
	a.log.Info("shutdown requested; accepting requests until DRAIN_DELAY has passed", "delay", delay, "open_requests", a.gateway.Open())
	select {
	case err := <-failed:
		return err
	case <-time.After(delay):
		return nil
	}
}

// drain lets running calls finish within DRAIN_TIMEOUT and then ends the others. It cuts the
// connections of callers that do not read the end of their response.
func (a *App) drain(ctx context.Context, end func()) error {
	delay := a.set.Server.DrainTimeout
	defer time.AfterFunc(delay, func() {
		a.log.Warn("closing requests still running after DRAIN_TIMEOUT", "open_requests", a.gateway.Open())
		a.gateway.Stop()
		end()
	}).Stop()
	ended, stop := context.WithTimeout(ctx, delay)
	defer stop()
	recorded, stop := context.WithTimeout(ctx, delay+2*cutGrace)
	defer stop()
	shutdownCtx, stop := context.WithTimeout(recorded, delay+cutGrace)
	defer stop()
	err := a.server.Shutdown(shutdownCtx)
	a.gateway.AwaitNone(recorded) // the server does not count WebSocket sessions
	a.gateway.AwaitBackground(ended)
	if err := a.admin.Await(recorded); err != nil {
		a.log.Warn("some rejected requests are missing from the audit log", "error", err.Error())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// Close closes what New opened, in reverse order. Further calls do nothing.
func (a *App) Close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i].Close())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// closerFunc adapts a function that cannot fail to io.Closer.
type closerFunc func()

// Close calls f and returns nil.
func (f closerFunc) Close() error { f(); return nil }
