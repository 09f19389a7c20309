package app

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"

	"github.com/rs/cors"

	"sluice/internal/gateway/nethttp"
	"sluice/internal/gateway/nethttp/router"
	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
	"sluice/internal/ops/config"
	"sluice/internal/ops/health"
	"sluice/internal/ops/process"
)

// headMax is the maximum size of the head of a client's request, in bytes.
const headMax = 64 << 10

// report returns the state of the gateway, as load balancers and operators see it.
func (a *App) report() *health.Report {
	s := health.Sources{
		Version: a.version, Draining: a.leaving.Load, Log: a.logs.Err, Usage: a.spend.Err, Journal: a.journal.Err,
		Database:    func() (status, detail string) { h := a.store.Health(); return h.Status, h.Detail },
		LocalLimits: a.set.Redis.Without == "local",
	}
	if a.shared != nil {
		s.Limits = a.shared.Err
	}
	return health.New(s)
}

// newServer creates the listener's server: the HTTP/1.1 server for model requests, and net/http for
// everything else. It sets no write timeout, because streams run as long as they need and the
// upstream idle timeouts end dead ones.
func (a *App) newServer(r *router.Router) (*server.Server, error) {
	rest := &http.Server{
		Handler: router.Recover(cross(r, a.set.CORS), a.log), ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: headMax,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	if a.set.TLS.Enabled() {
		pair, err := a.set.TLS.Certificate()
		if err != nil {
			return nil, err
		}
		a.showCertificate(pair)
		rest.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	}
	s := &server.Server{
		Gateway: a.gateway, IsModelRoute: r.IsModelRoute, Rest: rest, Patience: server.UsualTimeouts(), Log: a.log,
		MaxConns: process.MaxConnections(), MaxSilentPerClient: a.set.Server.UnusedPerClient,
	}
	a.connectionMetrics(s)
	return s, nil
}

// cross responds to browsers' preflight requests and sends the origins that may read responses.
func cross(next http.Handler, c config.CORS) http.Handler {
	if !c.Enabled {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: c.AllowedOrigins, AllowedMethods: c.AllowedMethods,
		AllowedHeaders: c.AllowedHeaders, ExposedHeaders: c.ExposeHeaders,
	}).Handler(next)
}

// newRouter creates the router of the running program.
func (a *App) newRouter() *router.Router { return router.New(a.routes()) }

func (a *App) routes() router.Options {
	logged := func(next http.Handler) http.Handler { return a.withAccessLine(next) }
	return router.Options{
		Model: nethttp.New(a.gateway), Admin: logged(a.admin.Handler()), Routes: a.admin, Pages: a.pages(),
		Aliases: a.set.Requests.HeaderPrefixAliases, CORS: a.set.CORS.Enabled, Log: logged, Note: noteFault,
		AdminKey: func(h wire.Header) bool {
			p, err := a.gateway.Identify(h)
			return err == nil && p.IsAdminKey()
		},
	}
}
