package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"syscall"
	"time"

	"sluice/internal/dataplane/front/h1"
	"sluice/internal/fault"
	"sluice/internal/sealed"
	"sluice/internal/wire"
)

// headMax is the maximum size of the head of a client's request, in bytes.
const headMax = 64 << 10

func clipPath(p string) string {
	if len(p) > 80 {
		return p[:80] + "…"
	}
	return p
}

// writeFault writes an error response to a request that has no route, with ids as in every
// response.
func writeFault(w http.ResponseWriter, f *fault.Error) {
	writeFaultOn(fault.Model, w, f)
}

// writeFaultOn works like writeFault, with the error body of surface s.
func writeFaultOn(s fault.Surface, w http.ResponseWriter, f *fault.Error) {
	h, body := wire.RefusalOn(s, f)
	for _, line := range h {
		w.Header().Set(line.Name, line.Value)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(f.HTTPStatus())
	_, _ = w.Write(body) // the client may have disconnected
}

// healthBody is the response body of /v1/health and /health.
type healthBody struct {
	Status   string `json:"status"` // ok, degraded or draining
	Version  string `json:"version"`
	Database string `json:"database"` // ok, degraded (reads continue) or down
	Journal  string `json:"journal"`
	Limits   string `json:"limits,omitempty"` // only where nodes share limits: ok, refusing, or alone while each node uses its local limits
	Detail   string `json:"detail,omitempty"`
}

// health reports the state of the gateway. It returns 200 as long as model traffic can be served,
// degraded included: a load balancer must not remove a gateway that still works.
func (a *App) health(w http.ResponseWriter, _ *http.Request) {
	b := healthBody{Status: "ok", Version: a.version, Database: "ok", Journal: "ok"}
	if h := a.store.Health(); h.Status != "ok" {
		b.Status, b.Database, b.Detail = "degraded", h.Status, h.Detail // model traffic does not need the database
	}
	status := http.StatusOK
	if err := a.logs.Err(); err != nil {
		b.Status, b.Detail = "degraded", "cannot write the request log; records stay in the journal"
	}
	if err := a.spend.Err(); err != nil {
		b.Status, b.Detail = "degraded", "cannot store usage; limits apply, and usage stays in the journal"
	}
	if a.journal.Err() != nil { // the error contains paths, which callers must not see
		b.Status, b.Journal, b.Detail = "degraded", "refusing", "the journal accepts no entries, so calls are rejected: JOURNAL_MAX_MB is reached, or its disk is full, failing, read-only or unresponsive"
	}
	if a.shared != nil {
		b.Limits = "ok"
		if a.shared.Err() != nil { // the error contains addresses, which callers must not see
			b.Status, b.Limits, b.Detail = "degraded", "refusing", "cannot check limits without Redis; calls with limits are rejected"
			if a.set.Redis.Without == "local" {
				b.Limits, b.Detail = "alone", "this node checks limits locally without Redis; limits may be exceeded"
			}
		}
	}
	if a.leaving.Load() {
		b.Status, status = "draining", http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(b) // the client may have disconnected
}

// newServer creates the listener's server: the fast front for the data plane, and net/http for
// everything else. It sets no write timeout, because streams run as long as they need and the
// upstream idle timeouts end dead ones.
func (a *App) newServer(r *router) (*h1.Server, error) {
	rest := &http.Server{
		Handler: recoverAndLog(cross(r, a.set.CORS), a.log), ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: headMax,
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
	s := &h1.Server{
		Gateway: a.gateway, IsModelRoute: r.isModelRoute, Rest: rest, Patience: h1.UsualTimeouts(), Log: a.log,
		MaxConns: maxConnections(), MaxSilentPerClient: a.set.Server.UnusedPerClient,
	}
	a.connectionMetrics(s)
	return s, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}

// listenError adds the names of the settings that choose another address, and other hints.
func listenError(err error) error {
	hint := "choose another address with --listen and --port, or LISTEN and PORT"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint = "stop the program that listens there, or " + hint
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		hint = "this machine does not have that address: " + hint
	case errors.Is(err, syscall.EACCES):
		hint = "ports below 1024 require a privilege (CAP_NET_BIND_SERVICE): " + hint
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// recoverAndLog wraps every handler: a panic becomes a 500, and each request writes one log line.
func recoverAndLog(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(http.ErrAbortHandler)
			}
			log.Error("panic in handler", "path", sealed.Path(r.URL.Path), "panic", v, "stack", string(debug.Stack()))
			writeFault(w, fault.New(fault.Internal, ""))
		}()
		next.ServeHTTP(w, r)
	})
}
