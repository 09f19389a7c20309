package nethttp

import (
	"io"
	"net/http"
	"time"

	"sluice/internal/http1/server"
)

// WithTimeouts adds client timeouts to a handler: the client must keep sending its body, even if
// the handler does not read it, and must read the response. It needs a ResponseWriter of net/http
// itself; others get no timeouts.
func WithTimeouts(next http.Handler, p server.ClientTimeouts) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &timeoutWriter{responder{w: w, patience: p, timed: timed(r)}}
		if c := deadlines(w); c != nil && r.Body != nil && r.Body != http.NoBody {
			_ = c.SetReadDeadline(time.Now().Add(p.Idle)) // for the rest of the body that net/http reads after the response
			body := &upload{body: r.Body, conn: c, patience: p, timed: timed(r)}
			r = r.WithContext(r.Context()) // net/http checks its own body to see whether a client is still sending
			r.Body = readCloser{body, r.Body}
		}
		next.ServeHTTP(out, r)
		out.release()
	})
}

// readCloser is a body with separate values for Read and Close.
type readCloser struct {
	io.Reader
	io.Closer
}

// timeoutWriter is a ResponseWriter with timeouts for the client's reads.
type timeoutWriter struct{ responder }

// writeChunkBytes is the maximum number of bytes written within ClientTimeouts.WriteStall.
const writeChunkBytes = 256 << 10

// Header implements http.ResponseWriter.
func (w *timeoutWriter) Header() http.Header { return w.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (w *timeoutWriter) WriteHeader(status int) { w.w.WriteHeader(status) }

// Write sends p in chunks.
func (w *timeoutWriter) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		var m int
		m, err = w.responder.Write(p[n:min(len(p), n+writeChunkBytes)])
		n += m
	}
	return n, err
}

// FlushError is the method that http.ResponseController uses to flush.
func (w *timeoutWriter) FlushError() error { return w.Flush() }

// Unwrap returns the underlying writer for http.ResponseController.
func (w *timeoutWriter) Unwrap() http.ResponseWriter { return w.w }
