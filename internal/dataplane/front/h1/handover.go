package h1

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// preface is what looks like the method of HTTP/2 in the clear, which is not served.
const preface = "PRI"

// closeAfterResponse makes each answer over HTTP/1 the last of its connection, but for those that
// go over to another protocol. Net/http would read the next requests more leniently than
// they are read here: it takes Content-Length together with Transfer-Encoding, and bare
// line feeds. A connection for each of the few calls that come here costs less than a
// second strict reader. Once the server is to be left those over HTTP/2 are the last, too.
func (s *Server) closeAfterResponse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r.Context()); c != nil {
			var wait *bodyWait
			ok := false
			if r.ContentLength == 0 { // of an unknown length it is -1
				ok = c.beginRequest(false)
			} else {
				r, wait, ok = c.awaitBody(w, r)
			}
			if !ok {
				panic(http.ErrAbortHandler) // the connection is being closed
			}
			defer c.endRequest(wait)
		}
		if r.ProtoMajor == 1 || r.Method == preface || s.leaving.Load() {
			w.Header().Set("Connection", "close") // who accepts an upgrade replaces it; HTTP/2 sends GOAWAY
		}
		if r.Method == http.MethodOptions && r.RequestURI == "*" { // net/http would answer by itself, and go on
			w.WriteHeader(http.StatusOK)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// handover is the listener from which the other server takes connections. It never
// fails but with net.ErrClosed.
type handover struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (h *handover) open(addr net.Addr) {
	h.addr, h.conns, h.closed = addr, make(chan net.Conn), make(chan struct{})
}

// deliver hands a connection over, or closes it when nobody takes any, and reports which.
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

// Addr is the address of the real listener.
func (h *handover) Addr() net.Addr { return h.addr }

// prereadConn is a connection of which some bytes were read already.
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

// CloseWrite is looked for by net/http, which closes a connection in two steps so that
// its last answer is not lost.
func (h *prereadConn) CloseWrite() error { return closeWrite(h.Conn) }

// prereadTLSConn is handed under TLS; net/http looks for ConnectionState.
type prereadTLSConn struct{ prereadConn }

// ConnectionState says how the connection is secured.
func (h *prereadTLSConn) ConnectionState() tls.ConnectionState {
	return h.Conn.(*tls.Conn).ConnectionState()
}

// unwrapConn is the connection that was handed over as nc, nil for others.
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
