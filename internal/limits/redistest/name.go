package redistest

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
)

// Name is an address that leads to one server or another, as a name does whose owner moves it.
// It is safe for concurrent use.
type Name struct {
	Address string // "127.0.0.1:40003"
	to      atomic.Pointer[Server]
}

// Call makes a name for a server; it is taken away when the test ends.
func Call(t testing.TB, s *Server) *Name {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // nobody goes by it any more
	n := &Name{Address: l.Addr().String()}
	n.Move(s)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go n.lead(c)
		}
	}()
	return n
}

// Move has connections that are made from now on lead to another server; those that are there
// stay where they are.
func (n *Name) Move(to *Server) { n.to.Store(to) }

// lead serves a connection until one of its ends closes.
func (n *Name) lead(from net.Conn) {
	defer func() { _ = from.Close() }()
	to, err := new(net.Dialer).DialContext(context.Background(), "tcp", n.to.Load().Address)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}
