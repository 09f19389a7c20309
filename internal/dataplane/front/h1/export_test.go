package h1

import (
	"context"
	"io"
	"net"
)

// OffNetwork is an error of accepting.
const OffNetwork = offNetwork

// ServeOn serves one connection as Serve serves those that it accepts, until it ends.
func (s *Server) ServeOn(nc net.Conn) {
	s.crowd.open()
	ctx, cancel := context.WithCancel(context.Background())
	c := newConn(s, nc, cancel)
	s.crowd.add(c)
	c.serve(ctx)
}

// HandedTo has connections that are handed over read to their end, and see called with
// what came.
func (s *Server) HandedTo(see func([]byte)) (stop func()) {
	s.over.open(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := s.over.Accept()
			if err != nil {
				return
			}
			b, _ := io.ReadAll(nc) // as much as came
			see(b)
			nc.Close()
		}
	}()
	return func() {
		_ = s.over.Close()
		<-done
	}
}
