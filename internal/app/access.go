package app

import (
	"log/slog"
	"net/http"
	"time"
)

// logged leaves one line in the log for each request of the administration, as the
// data plane does for its own. Bodies and keys are not in it; who did what to which
// record stands in the audit trail.
func logged(next http.Handler, shown func(method, path string) string, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("request_id", w.Header().Get("X-Gateway-Request-Id")),
			slog.String("method", r.Method), slog.String("path", shown(r.Method, r.URL.Path)), slog.Int("status", seen.status), slog.Duration("took", time.Since(began)))
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
