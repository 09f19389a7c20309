package server

import (
	"context"
	"io"
	"net"
)

// OffNetwork is an error of accepting.
const OffNetwork = offNetwork

// ServeOn serves one connection as Serve serves those that it accepts, until it ends.
func (s *Server) ServeOn(nc net.Conn) {
	s.conns.open()
	ctx, cancel := context.WithCancel(context.Background())
	c := newConn(s, nc, cancel)
	s.conns.add(c)
	c.serve(ctx)
}

// OnHandover has connections that are handed over read to their end, and see called with
// what came.
func (s *Server) OnHandover(see func([]byte)) (stop func()) {
	s.handover.open(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := s.handover.Accept()
			if err != nil {
				return
			}
			b, _ := io.ReadAll(nc) // as much as came
			see(b)
			nc.Close()
		}
	}()
	return func() {
		_ = s.handover.Close()
		<-done
	}
}

// ClientOf is whose share of silent connections one from an address counts towards.
func ClientOf(a net.Addr) string { return clientOf(addressed{addr: a}).String() }

// addressed is a connection that has nothing but the address of its client.
type addressed struct {
	net.Conn
	addr net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.addr }

// Idle is how many connections wait for their next request.
func (s *Server) Idle() (n int) {
	s.conns.each(func(c *conn) {
		if c.state.Load() == unused {
			n++
		}
	})
	return n
}

// Waiting is how many connections hold back the body of a request of an unauthenticated caller.
func (s *Server) Waiting() (n int) {
	s.evictions.mu.Lock()
	defer s.evictions.mu.Unlock()
	for c := range s.evictions.rest {
		if c.waiting > 0 && !c.evicted {
			n++
		}
	}
	return n
}
