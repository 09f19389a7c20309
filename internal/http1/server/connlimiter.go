package server

import (
	"net"
	"net/http"
	"net/netip"
	"time"
)

// connLimiter limits the number of open connections, including those that Rest serves. Each needs
// a file descriptor, and another one to a provider: if clients used all of them, there would be
// none for upstream calls.
type connLimiter struct {
	taken      chan struct{} // contains one element for each open connection; nil without a limit
	lastLogged time.Time     // when the limit was last logged; only for the accepting goroutine
}

func (p *connLimiter) open(maxConns int) {
	if maxConns > 0 {
		p.taken = make(chan struct{}, maxConns)
	}
}

const (
	logInterval      = time.Minute           // minimum time between log messages about the limit
	stopPollInterval = 50 * time.Millisecond // between checks whether the server stops
)

// acquire waits for a free slot for an accepted connection of a client. It returns false when the
// server stops. It evicts connections that are not in use. If none can be evicted, each response
// is the last of its connection, so that slots become free.
func (s *Server) acquire(client netip.Addr) bool {
	s.evictions.enforceShare(client, s.share())
	p := &s.limiter
	if p.taken == nil {
		return true
	}
	select {
	case p.taken <- struct{}{}:
		return true
	default:
	}
	if now := time.Now(); now.Sub(p.lastLogged) >= logInterval {
		p.lastLogged = now
		s.Log.Warn("connection limit reached; unused connections are closed, others wait", "connections", cap(p.taken), "hint", "raise the limit of open files (ulimit -Hn, LimitNOFILE)")
	}
	defer s.crowded.Store(false)
	for !s.draining.Load() {
		s.crowded.Store(!s.evict())
		select {
		case p.taken <- struct{}{}:
			return true
		case <-time.After(stopPollInterval):
		}
	}
	return false
}

// release frees the slot of a connection. It must be called once for each connection that has
// one.
func (s *Server) release(c *conn) {
	s.evictions.closed(c)
	if s.limiter.taken != nil {
		<-s.limiter.taken
	}
	s.evictions.released(c) // after its slot is free, or another connection would be evicted for it
}

// releaseOnHandover tracks the connections that Rest serves. It frees the slot of a connection
// that has ended or that changed to another protocol, which has its own limit.
func (s *Server) releaseOnHandover(nc net.Conn, to http.ConnState) {
	c := unwrapConn(nc)
	switch to {
	case http.StateActive, http.StateIdle:
		s.evictions.setStreams(c, to == http.StateActive)
	case http.StateClosed, http.StateHijacked:
		s.release(c)
	case http.StateNew:
	}
}
