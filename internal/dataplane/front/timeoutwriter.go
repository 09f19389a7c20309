package front

import (
	"io"
	"net/http"
	"time"
)

// WithTimeouts serves with a handler that knows nothing of slow clients: a body must keep
// coming, whether or not the handler reads it, and what is written must be taken. It asks
// for a ResponseWriter of net/http itself; others have no limits.
func WithTimeouts(next http.Handler, p ClientTimeouts) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &timeoutWriter{responder{w: w, patience: p, timed: timed(r)}}
		if c := deadlines(w); c != nil && r.Body != nil && r.Body != http.NoBody {
			_ = c.SetReadDeadline(time.Now().Add(p.Idle)) // for what net/http reads of it behind the answer
			body := &upload{body: r.Body, conn: c, patience: p, timed: timed(r)}
			r = r.WithContext(r.Context()) // net/http looks at the body of its own to see whether a client is still sending
			r.Body = readCloser{body, r.Body}
		}
		next.ServeHTTP(out, r)
		out.release()
	})
}

// readCloser is a body that is read in one way and closed in another.
type readCloser struct {
	io.Reader
	io.Closer
}

// timeoutWriter is a ResponseWriter whose client must take what is written.
type timeoutWriter struct{ responder }

// writeChunkBytes is how much is written within Patience.Stall.
const writeChunkBytes = 256 << 10

// Header implements http.ResponseWriter.
func (w *timeoutWriter) Header() http.Header { return w.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (w *timeoutWriter) WriteHeader(status int) { w.w.WriteHeader(status) }

// Write sends p in pieces.
func (w *timeoutWriter) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		var m int
		m, err = w.responder.Write(p[n:min(len(p), n+writeChunkBytes)])
		n += m
	}
	return n, err
}

// FlushError is what http.ResponseController flushes by.
func (w *timeoutWriter) FlushError() error { return w.Flush() }

// Unwrap gives http.ResponseController the writer underneath.
func (w *timeoutWriter) Unwrap() http.ResponseWriter { return w.w }
