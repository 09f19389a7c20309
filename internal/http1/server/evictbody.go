package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// maxUnauthenticatedBody is the default of Server.MaxUnauthenticatedBody.
const maxUnauthenticatedBody = 10 * time.Second

// bodyWait is a request that Rest serves, of an unauthenticated caller, from its header to the
// end of its body. Until then its connection may be evicted like one that has not sent a complete
// request.
type bodyWait struct {
	io.ReadCloser // the body
	c             *conn
	limit         time.Time
	timer         *time.Timer

	mu   sync.Mutex // guards done
	done bool       // the body is complete, the caller authenticated, or the handler has ended
}

// bodyWaitKey is the key of a *bodyWait in the context of its request.
type bodyWaitKey struct{}

// MarkAuthenticated records that the caller of a request is authenticated: its connection is not
// evicted while its body is being received, and the body has the usual time limits. ctx is the
// context of the request. Without a Server of this package, MarkAuthenticated does nothing.
func MarkAuthenticated(ctx context.Context) {
	if w, _ := ctx.Value(bodyWaitKey{}).(*bodyWait); w != nil {
		w.finish(true)
	}
}

// awaitBody starts the wait for a body and returns the request to serve. It returns false if the
// connection is being closed.
func (c *conn) awaitBody(w http.ResponseWriter, r *http.Request) (*http.Request, *bodyWait, bool) {
	c.s.evictions.enforceShare(c.client, c.s.share())
	if !c.s.evictions.beginRequest(c, true) {
		return r, nil, false
	}
	wait := &bodyWait{ReadCloser: r.Body, c: c, limit: time.Now().Add(c.s.unauthenticatedBody())}
	rc := http.NewResponseController(w)
	wait.timer = time.AfterFunc(time.Until(wait.limit), func() {
		wait.mu.Lock()
		defer wait.mu.Unlock()
		if !wait.done {
			_ = rc.SetReadDeadline(longAgo) // fails only on a closed connection, as the read does
		}
	})
	r = r.WithContext(context.WithValue(r.Context(), bodyWaitKey{}, wait)) // a copy: net/http compares the body with its own
	r.Body = wait
	return r, wait, true
}

// unauthenticatedBody returns the maximum time for the body of an unauthenticated caller.
func (s *Server) unauthenticatedBody() time.Duration {
	if s.MaxUnauthenticatedBody > 0 {
		return s.MaxUnauthenticatedBody
	}
	return maxUnauthenticatedBody
}

// Read reads the body. It returns os.ErrDeadlineExceeded after the time limit.
func (w *bodyWait) Read(p []byte) (int, error) {
	if time.Now().After(w.limit) && !w.isDone() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := w.ReadCloser.Read(p)
	if err == io.EOF && !w.finish(true) {
		return 0, net.ErrClosed // it is evicted, and the client does not get the response
	}
	return n, err
}

func (w *bodyWait) isDone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

// finish ends the wait once. If goesOn is true, the request counts as being served. It returns
// false if the connection is being closed.
func (w *bodyWait) finish(goesOn bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return true
	}
	w.done = true
	w.timer.Stop()
	return !goesOn || w.c.s.evictions.serveWaiting(w.c)
}
