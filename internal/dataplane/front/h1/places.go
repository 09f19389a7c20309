package h1

import (
	"net"
	"net/http"
	"time"
)

// places bounds how many connections are open at once, those at Rest included. Each needs a
// descriptor, and one to a provider besides: were all of them given to callers, there would be
// none for what calls leave behind.
type places struct {
	taken chan struct{} // has one for each that is open; nil where there is no bound
	told  time.Time     // when the log was told that there is none; of the goroutine that accepts
}

func (p *places) open(most int) {
	if most > 0 {
		p.taken = make(chan struct{}, most)
	}
}

const (
	tellEvery = time.Minute           // at most, that there is no place
	stopLook  = 50 * time.Millisecond // between looks whether anybody is to come at all
)

// awaitPlace waits for a place for a connection that was accepted; false when nobody is to
// come any more. While it waits answers are the last of their connections, so that places
// change hands.
func (s *Server) awaitPlace() bool {
	p := &s.places
	if p.taken == nil {
		return true
	}
	select {
	case p.taken <- struct{}{}:
		return true
	default:
	}
	if now := time.Now(); now.Sub(p.told) >= tellEvery {
		p.told = now
		s.Log.Warn("as many connections are open as there may be, and further ones wait", "connections", cap(p.taken), "cure", "raise the limit of open files (ulimit -n, LimitNOFILE)")
	}
	s.crowded.Store(true)
	defer s.crowded.Store(false)
	for !s.draining.Load() {
		select {
		case p.taken <- struct{}{}:
			return true
		case <-time.After(stopLook):
		}
	}
	return false
}

// leavePlace gives the place of a connection back, once for each that had one.
func (s *Server) leavePlace() {
	if s.places.taken != nil {
		<-s.places.taken
	}
}

// elsewhere gives back the place of a connection that Rest has served, or that went over to
// another protocol, which bounds those itself.
func (s *Server) elsewhere(_ net.Conn, to http.ConnState) {
	if to == http.StateClosed || to == http.StateHijacked {
		s.leavePlace()
	}
}
