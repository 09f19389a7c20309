package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// preface is the method in the preface of HTTP/2 without TLS, which is not supported.
const preface = "PRI"

// closeAfterResponse makes each HTTP/1 response the last of its connection, except for protocol
// upgrades. net/http would parse the next requests more leniently than this package: it accepts
// Content-Length together with Transfer-Encoding, and bare line feeds. One connection for each of
// the few calls that are handed over costs less than a second strict parser. During
// DrainConnections HTTP/2 responses are the last ones, too.
func (s *Server) closeAfterResponse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r.Context()); c != nil {
			var wait *bodyWait
			var ok bool
			if r.ContentLength == 0 { // an unknown length is -1
				ok = s.evictions.beginRequest(c, false)
			} else {
				r, wait, ok = c.awaitBody(w, r)
			}
			if !ok {
				panic(http.ErrAbortHandler) // the connection is being closed
			}
			defer s.evictions.endRequest(c, wait)
		}
		if r.ProtoMajor == 1 || r.Method == preface || s.leaving.Load() {
			w.Header().Set("Connection", "close") // a handler that accepts an upgrade replaces it; HTTP/2 sends GOAWAY
		}
		if r.Method == http.MethodOptions && r.RequestURI == "*" { // net/http would respond itself and continue the connection
			w.WriteHeader(http.StatusOK)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// handover is the listener from which Rest accepts connections. Its only error is net.ErrClosed.
type handover struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (h *handover) open(addr net.Addr) {
	h.addr, h.conns, h.closed = addr, make(chan net.Conn), make(chan struct{})
}

// deliver passes a connection to Accept and returns true. After Close it closes the connection
// and returns false.
func (h *handover) deliver(nc net.Conn) bool {
	select {
	case h.conns <- nc:
		return true
	case <-h.closed:
		nc.Close()
		return false
	}
}

// Accept returns the next connection that is handed over.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case nc := <-h.conns:
		return nc, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (h *handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr returns the address of the real listener.
func (h *handover) Addr() net.Addr { return h.addr }

// prereadConn is a connection with bytes that were already read.
type prereadConn struct {
	net.Conn
	c      *conn
	unread []byte
}

// Read returns those bytes first.
func (h *prereadConn) Read(p []byte) (int, error) {
	if len(h.unread) == 0 {
		return h.Conn.Read(p)
	}
	n := copy(p, h.unread)
	if h.unread = h.unread[n:]; len(h.unread) == 0 {
		h.unread = nil
	}
	return n, nil
}

// CloseWrite implements an interface that net/http checks for. net/http closes a connection in
// two steps so that its last response is not lost.
func (h *prereadConn) CloseWrite() error { return closeWrite(h.Conn) }

// prereadTLSConn is a prereadConn under TLS; net/http checks for ConnectionState.
type prereadTLSConn struct{ prereadConn }

// ConnectionState returns the TLS state of the connection.
func (h *prereadTLSConn) ConnectionState() tls.ConnectionState {
	return h.Conn.(*tls.Conn).ConnectionState()
}

// unwrapConn returns the connection that was handed over as nc, or nil for other connections.
func unwrapConn(nc net.Conn) *conn {
	switch nc := nc.(type) {
	case *prereadConn:
		return nc.c
	case *prereadTLSConn:
		return nc.c
	case *tls.Conn:
		if t, ok := nc.NetConn().(*tlsReader); ok {
			return t.c
		}
	}
	return nil
}

func closeWrite(nc net.Conn) error {
	if closer, ok := nc.(interface{ CloseWrite() error }); ok {
		return closer.CloseWrite()
	}
	return nil
}
