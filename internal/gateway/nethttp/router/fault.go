package router

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
)

// maxPathChars is the maximum length of a path in an error text.
const maxPathChars = 80

// ClipPath shortens a path for an error text.
func ClipPath(p string) string {
	if len(p) > maxPathChars {
		return p[:maxPathChars] + "…"
	}
	return p
}

// WriteFault writes f as the response to a request that has no route, with the error body of
// surface s and with ids as in every response.
func WriteFault(s fault.Surface, w http.ResponseWriter, f *fault.Error) {
	h, body := wire.RefusalOn(s, f)
	for _, line := range h {
		w.Header().Set(line.Name, line.Value)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(f.HTTPStatus())
	_, _ = w.Write(body) // the client may have disconnected
}

// reject writes f as the response to a request without a route, and notes it.
func (r *Router) reject(s fault.Surface, w http.ResponseWriter, req *http.Request, f *fault.Error) {
	if r.o.Note != nil {
		r.o.Note(req, f)
	}
	WriteFault(s, w, f)
}

// Recover wraps every handler: a panic becomes a 500 and one log line.
func Recover(next http.Handler, log *slog.Logger) http.Handler {
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
			WriteFault(fault.Model, w, fault.New(fault.Internal, ""))
		}()
		next.ServeHTTP(w, r)
	})
}

// RequireToken serves a page only to callers that send its token, and to every caller if it has
// no token.
func RequireToken(token sealed.String, page http.HandlerFunc) http.HandlerFunc {
	if token.Empty() {
		return page
	}
	return func(w http.ResponseWriter, r *http.Request) {
		const scheme = "Bearer "
		h := r.Header.Get("Authorization")
		if len(h) <= len(scheme) || !strings.EqualFold(h[:len(scheme)], scheme) || !token.Equal(h[len(scheme):]) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			WriteFault(fault.Model, w, fault.New(fault.Unauthenticated, "metrics require the bearer token from METRICS_TOKEN"))
			return
		}
		page(w, r)
	}
}
