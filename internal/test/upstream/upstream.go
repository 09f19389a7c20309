// Package upstream is the model provider of the tests: the scripted answers of
// internal/ops/demo, served by a server that can go wrong in every way a real provider
// does, and that remembers what it was sent byte for byte.
//
//	up := upstream.Start(t)
//	… point a provider at up.URL() …
//	seen := up.Await(t, "two tries", func(s []upstream.Seen) bool { return len(s) == 2 })
//
// What a request gets is decided in this order: a script of the test (ScriptHead,
// On, Script), a fault that the request names, the demo's answer. A request names
// a fault in the header x-fault, the query parameter fault, the path
// /v1/fault/<fault>, or the model "fault:<fault>" of its JSON or form, so that
// faults work across processes and official clients; see Faults for the names.
// Paths below /v1/echo answer the request's own body.
//
// HTTP/1.1 is spoken directly on the connection, because a server library would
// mend half of the faults; HTTP/2 (StartTLS) goes through net/http.
package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"sluice/internal/ops/demo"
	"sluice/internal/test/upstream/testcert"
)

// Server is a running upstream. All methods are safe for concurrent use.
type Server struct {
	opts   options
	ln     net.Listener
	cert   *testcert.Authority // nil without TLS
	demo   http.Handler
	h2     *http2Side
	closed chan struct{}
	work   sync.WaitGroup
	seen   record
	script scripts

	mu    sync.Mutex // guards conns and next
	conns map[net.Conn]struct{}
	next  int
}

type options struct {
	tls     bool
	noHTTP2 bool
	cert    testcert.Options
	gap     time.Duration
	maxBody int64
}

// Option changes how a Server is started.
type Option func(*options)

// Gap puts a pause before each event of every stream. Default: none.
func Gap(d time.Duration) Option { return func(o *options) { o.gap = d } }

// MaxBody is the number of body bytes that Seen holds per request; longer ones
// are cut there, counted and summed whole. Default: 1 MiB.
func MaxBody(n int64) Option { return func(o *options) { o.maxBody = n } }

// HTTP1Only leaves h2 out of a TLS server's offer, so that all faults work there.
func HTTP1Only() Option { return func(o *options) { o.noHTTP2 = true } }

// CertNames makes a TLS server's certificate good for these host names and
// addresses only. Default: 127.0.0.1, ::1 and localhost.
func CertNames(names ...string) Option { return func(o *options) { o.cert.Names = names } }

// CertExpired makes a TLS server's certificate one that ended yesterday.
func CertExpired() Option { return func(o *options) { o.cert.Expired = true } }

// Start runs an HTTP/1.1 upstream on a free port of 127.0.0.1 until the test ends.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := Open(opts...)
	if err != nil {
		t.Fatalf("start upstream: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// StartTLS runs a TLS upstream that offers h2 and http/1.1; Roots and CAPEM give
// the authority to trust.
func StartTLS(t testing.TB, opts ...Option) *Server {
	t.Helper()
	return Start(t, append(opts, func(o *options) { o.tls = true })...)
}

// Open is Start without a test; the caller closes the Server.
func Open(opts ...Option) (*Server, error) {
	o := options{maxBody: 1 << 20}
	for _, set := range opts {
		set(&o)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &Server{opts: o, ln: ln, demo: demo.Handler(), closed: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	s.seen.changed = make(chan struct{})
	if o.tls {
		if s.cert, err = testcert.New(o.cert); err != nil {
			_ = ln.Close()
			return nil, fmt.Errorf("make certificates: %w", err)
		}
		s.h2 = &http2Side{s}
	}
	s.work.Add(1)
	go s.accept()
	return s, nil
}

// Refused returns the URL of a port of 127.0.0.1 that refuses connections until
// the test ends. The port is held as the near end of a connection, so that nobody
// else can come to listen on it.
func Refused(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _, _ = c.Close(), ln.Close() })
	return "http://" + c.LocalAddr().String()
}

// URL is the root without a path, for example "http://127.0.0.1:41234"; base URLs
// of providers append "/v1".
func (s *Server) URL() string {
	if s.cert != nil {
		return "https://" + s.ln.Addr().String()
	}
	return "http://" + s.ln.Addr().String()
}

// Addr is the address without scheme, for example "127.0.0.1:41234".
func (s *Server) Addr() string { return s.ln.Addr().String() }

// CAPEM is the certificate of the authority that a TLS server's callers must
// trust, in PEM; nil without TLS.
func (s *Server) CAPEM() []byte {
	if s.cert == nil {
		return nil
	}
	return s.cert.PEM()
}

// Roots is the same as a pool; nil without TLS.
func (s *Server) Roots() *x509.CertPool {
	if s.cert == nil {
		return nil
	}
	return s.cert.Pool()
}

// Close stops listening, breaks every connection and waits for their goroutines.
// Later calls do nothing.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closed:
		s.mu.Unlock()
		return
	default:
	}
	close(s.closed)
	_ = s.ln.Close()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// DropConnections breaks all open connections, idle ones included, without
// stopping to listen.
func (s *Server) DropConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

func (s *Server) accept() {
	defer s.work.Done()
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		id, ok := s.adopt(c)
		if !ok {
			return
		}
		go func() {
			defer s.work.Done()
			defer s.forget(c)
			s.serve(c, id)
		}()
	}
}

// adopt numbers a connection from 1, unless the server was closed meanwhile.
func (s *Server) adopt(c net.Conn) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
		_ = c.Close()
		return 0, false
	default:
	}
	s.conns[c] = struct{}{}
	s.next++
	s.work.Add(1)
	return s.next, true
}

func (s *Server) forget(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// serve speaks TLS if configured, then the protocol that was agreed on.
func (s *Server) serve(c net.Conn, id int) {
	if s.cert == nil {
		newConn(s, c, c, id).run()
		return
	}
	protocols := []string{"h2", "http/1.1"}
	if s.opts.noHTTP2 {
		protocols = protocols[1:]
	}
	tc := tls.Server(c, s.cert.Config(protocols...))
	if tc.Handshake() != nil {
		return
	}
	if tc.ConnectionState().NegotiatedProtocol == "h2" {
		s.h2.serve(tc, id)
		return
	}
	newConn(s, tc, c, id).run()
}
