package transport

import "time"

// failurePhase describes how far a request without a response got.
type failurePhase int

const (
	perhapsActed failurePhase = iota // the peer was alive and may have acted on the request
	noResponse                       // the connection ended before one byte of a response
	notActed                         // the peer has not received the complete request, or has refused it unread
)

const (
	// staleWindow is the time within which a pooled connection must fail so that any request may
	// be sent again. A connection that fails later was alive, and its peer may have acted on the
	// request.
	staleWindow = 2 * time.Second
	// deadWindow is the same limit where acting twice does harm, as with a model call that costs
	// money, and nothing proves that the peer has not acted. When an idle connection was closed,
	// the close arrives within a round trip of sending the request, a few tens of milliseconds.
	// A peer that has read the request and fails during its work takes longer.
	deadWindow = 100 * time.Millisecond
)

// repeatable reports whether a failure now may come from a connection that was closed while it
// was in the pool. The request may then be sent again. Time spent waiting for a connection that
// another call was opening does not count.
func (t timing) repeatable(method string, l failurePhase) bool {
	window := staleWindow
	if l == noResponse && !idempotent(method) {
		window = deadWindow
	}
	return l != perhapsActed && time.Since(t.start)-t.queue < window
}

// idempotent reports whether acting on a request twice has the same effect as once.
// Source: RFC 9110 section 9.2.2.
func idempotent(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE":
		return true
	}
	return false
}
