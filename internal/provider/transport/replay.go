package transport

import "time"

// failurePhase is what is known of a request that got no answer.
type failurePhase int

const (
	perhapsActed failurePhase = iota // the peer was alive, and may have acted on it
	noResponse                       // the connection ended without one byte of an answer
	notActed                         // the peer has not got the whole, or has refused it unread
)

const (
	// staleWindow is how soon a pooled connection must have failed for any request to
	// be sent again. One that fails later was alive and may have acted on it.
	staleWindow = 2 * time.Second
	// deadWindow is the same where acting twice does harm, as a model call costs money,
	// and nothing proves that the peer has not acted. The end of a connection that was
	// closed while it lay unused is on its way when the request is sent: it takes at
	// most a round trip, a few tens of milliseconds. A peer that has read the request
	// and is at work when it dies takes longer.
	deadWindow = 100 * time.Millisecond
)

// repeatable reports whether a failure now can be that of a connection that was closed
// while it lay in the pool, so that the request may be sent again. Waiting for a
// connection that another call was opening does not count.
func (t timing) repeatable(method string, l failurePhase) bool {
	window := staleWindow
	if l == noResponse && !idempotent(method) {
		window = deadWindow
	}
	return l != perhapsActed && time.Since(t.start)-t.queue < window
}

// idempotent reports whether acting on a request twice is as good as once.
// Source: RFC 9110 section 9.2.2.
func idempotent(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE":
		return true
	}
	return false
}
