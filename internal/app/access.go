package app

import (
	"net"
	"net/http"
	"strings"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/gateway/nethttp/router"
	"sluice/internal/kernel/fault"
	"sluice/internal/ops/telemetry/accesslog"
)

// withAccessLine writes one access-log line for each request that is not model traffic, with the
// same attribute keys as the data plane. The line contains no bodies and no keys; the audit trail
// records who changed which record. A response that is cut off is logged too.
func (a *App) withAccessLine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		var out resource.Outcome
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() { a.access.Append(a.adminLine(r, seen, &out, began)) }()
		next.ServeHTTP(seen, r.WithContext(resource.WithOutcome(r.Context(), &out)))
	})
}

func (a *App) adminLine(r *http.Request, seen *statusWriter, out *resource.Outcome, began time.Time) *accesslog.Line {
	remote, _, _ := net.SplitHostPort(r.RemoteAddr)
	now := time.Now()
	line := &accesslog.Line{
		Time: now, RequestID: seen.Header().Get(resource.HeaderRequestID), Method: r.Method, Path: a.admin.ShownPath(r.Method, r.URL.Path),
		Status: seen.status, Duration: now.Sub(began), Remote: a.proxies.Client(remote, r.Header.Values("X-Forwarded-For")...),
		KeyID: out.KeyID, UserID: out.UserID, Workspace: out.WorkspaceID,
	}
	if f := out.Fault; f != nil {
		line.Error, line.Code, line.Reason = f.Text(), string(f.Code), f.Reason
	}
	if line.Code == string(fault.UnknownRoute) { // the message quotes the path, which may contain a secret
		escaped := r.URL.EscapedPath()
		line.Error = strings.ReplaceAll(line.Error, router.ClipPath(escaped), router.ClipPath(a.admin.ShownPath(r.Method, escaped)))
	}
	return line
}

// noteFault records for the access log why a request without a route is rejected.
func noteFault(r *http.Request, f *fault.Error) {
	if out := resource.OutcomeOf(r.Context()); out != nil {
		out.Fault = f
	}
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader records the status and sends it.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
