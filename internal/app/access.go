package app

import (
	"net/http"
	"time"

	"sluice/internal/telemetry/accesslog"
)

// logged leaves one line in the log for each request of the administration, as the
// data plane does for its own. Bodies and keys are not in it; who did what to which
// record stands in the audit trail.
func logged(next http.Handler, shown func(method, path string) string, log *accesslog.Log) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		now := time.Now()
		log.Append(&accesslog.Line{
			Time: now, RequestID: w.Header().Get("X-Gateway-Request-Id"), Method: r.Method, Path: shown(r.Method, r.URL.Path), Status: seen.status, Duration: now.Sub(began),
		})
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status and sends it.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController the writer underneath.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
