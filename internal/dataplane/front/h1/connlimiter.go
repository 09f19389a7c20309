package h1

import (
	"net"
	"net/http"
	"net/netip"
	"time"
)

// connLimiter bounds how many connections are open at once, those at Rest included. Each needs a
// descriptor, and one to a provider besides: were all of them given to callers, there would be
// none for what calls leave behind.
type connLimiter struct {
	taken      chan struct{} // has one for each that is open; nil where there is no bound
	lastLogged time.Time     // when the log was told that there is none; of the goroutine that accepts
}

func (p *connLimiter) open(maxConns int) {
	if maxConns > 0 {
		p.taken = make(chan struct{}, maxConns)
	}
}

const (
	logInterval      = time.Minute           // at most, that there is no place
	stopPollInterval = 50 * time.Millisecond // between looks whether anybody is to come at all
)

// acquire waits for a place for a connection of a client that was accepted; false when
// the server stops. It evicts connections that are not in use. While none can be evicted
// answers are the last of their connections, so that places change hands.
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

// release gives the place of a connection back, once for each that had one.
func (s *Server) release(c *conn) {
	s.evictions.closed(c)
	if s.limiter.taken != nil {
		<-s.limiter.taken
	}
	s.evictions.released(c) // after its slot is free, or another connection would be evicted for it
}

// releaseOnHandover follows the connections that Rest serves. It gives back the place of one that has
// ended, or that went over to another protocol, which bounds those itself.
func (s *Server) releaseOnHandover(nc net.Conn, to http.ConnState) {
	c := unwrapConn(nc)
	switch to {
	case http.StateActive, http.StateIdle:
		c.setStreams(to == http.StateActive)
	case http.StateClosed, http.StateHijacked:
		s.release(c)
	case http.StateNew:
	}
}
