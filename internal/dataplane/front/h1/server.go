package h1

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"sluice/internal/dataplane/front"
	"sluice/internal/wire"
	"sluice/internal/wire/socket"
)

// gateway is what serves the requests; *dataplane.Gateway does.
type gateway interface {
	Serve(ctx context.Context, req *wire.Request, out wire.Responder) error
}

// Server serves one listener. Its exported fields are set before Serve and not changed
// after; none may be missing. Its methods are safe for concurrent use.
type Server struct {
	Gateway gateway
	// IsModelRoute reports whether a request is for the gateway; everything else is handed over.
	// The path is escaped as it came: "/v1/files/a%2Fb". Names in the header are lower
	// case; it is good for the time of the call.
	IsModelRoute func(method, path string, h wire.Header) bool
	// Rest serves the connections that are handed over; Server starts and stops it, and has
	// it close those of HTTP/1 with their answer. Its ReadHeaderTimeout, IdleTimeout and
	// MaxHeaderBytes hold here, too, and so does its TLSConfig, if any, which must name the
	// protocols in NextProtos. Its ConnState and ConnContext are set here.
	Rest     *http.Server
	Patience front.ClientTimeouts // usually front.Usual()
	Log      *slog.Logger         // refusals on level debug, panics as errors
	// MaxConns is how many connections may be open at once. For a further one the oldest is
	// closed that has not sent a complete request, else the one that waits longest for its
	// next request. While all are being served the further one waits. 0 means no bound.
	MaxConns int
	// MaxSilentPerClient is how many connections of one client address, or of one /64 network
	// of IPv6, may be open that have not sent a complete request. A further one closes the
	// oldest of them. 0 means half of Most, at least 8 and at most 4,096.
	MaxSilentPerClient int
	// MaxUnauthenticatedBody is how long the body of a request may take that Rest serves,
	// unless its handler calls MarkAuthenticated. 0 means 10 seconds.
	MaxUnauthenticatedBody time.Duration

	dates     dates
	conns     connSet
	limiter   connLimiter
	crowded   atomic.Bool // a connection waits for a place
	evictions evictions
	handover  handover
	tls       *tls.Config // nil in the clear
	listener  atomic.Pointer[net.Listener]
	leaving   atomic.Bool // answers are the last of their connections
	draining  atomic.Bool
}

// Serve accepts connections until Shutdown or Close, and returns http.ErrServerClosed
// then. Any other error is the listener's. Ctx is the parent of the requests' contexts; to
// end it ends them all. It is called once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.conns.open()
	s.limiter.open(s.MaxConns)
	s.handover.open(l.Addr())
	s.tls = s.Rest.TLSConfig // before Rest fills in its own, which it does without TLS, too
	s.listener.Store(&l)
	if s.draining.Load() { // before the listener was there to be closed
		return errors.Join(http.ErrServerClosed, l.Close())
	}
	go s.conns.watch()
	s.Rest.Handler, s.Rest.DisableGeneralOptionsHandler = s.closeAfterResponse(s.Rest.Handler), true
	s.Rest.ConnState, s.Rest.ConnContext = s.releaseOnHandover, withConn
	s.Rest.BaseContext = func(net.Listener) context.Context { return ctx }
	go func() { _ = s.Rest.Serve(&s.handover) }() // ends with http.ErrServerClosed, because its listener never fails
	var wait time.Duration
	for {
		nc, err := l.Accept()
		switch {
		case err == nil && !s.acquire(clientOf(nc)):
			return errors.Join(http.ErrServerClosed, nc.Close())
		case err == nil:
			wait = 0
			s.admit(ctx, nc)
		case s.draining.Load():
			return http.ErrServerClosed
		case passing(err):
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			s.Log.Warn("cannot accept a connection", "error", err.Error(), "again_in", wait)
			time.Sleep(wait)
		default:
			return err
		}
	}
}

// passing reports whether accepting may work again after a while: the client was gone
// before its turn, its connection failed, a firewall forbids it, or the system is short of
// something. Source: accept(2), which passes on the errors of the new connection.
func passing(err error) bool {
	for _, e := range [...]error{
		syscall.ECONNABORTED, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EPERM,
		syscall.EPROTO, syscall.ENOPROTOOPT, syscall.EOPNOTSUPP,
		syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, offNetwork,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// admit serves a connection in a goroutine of its own.
func (s *Server) admit(ctx context.Context, nc net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	c := newConn(s, socket.Wrap(nc), cancel)
	if !s.conns.add(c) {
		c.abort()
		s.release(c)
		return
	}
	s.evictions.add(c)
	go c.serve(ctx)
}

// DrainConnections makes each answer from now on the last of its connection, at Rest too, so that
// clients come back by new ones, which a load balancer sends elsewhere. Connections and
// requests are taken as before.
func (s *Server) DrainConnections() { s.leaving.Store(true) }

// Shutdown stops accepting, closes unused connections, here and at Rest, and waits until
// the others have ended. When ctx ends before, it cuts them and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	rest := make(chan error, 1)
	go func() { rest <- s.Rest.Shutdown(ctx) }()
	err := s.conns.drain(ctx)
	err = errors.Join(err, <-rest)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	s.conns.close()
	return nil
}

// Close stops accepting and closes all connections at once.
func (s *Server) Close() error {
	s.stop()
	err := s.Rest.Close()
	s.conns.close()
	return err
}

// stop takes no more connections; those that are here end with their next answer.
func (s *Server) stop() {
	s.leaving.Store(true)
	s.draining.Store(true)
	if l := s.listener.Load(); l != nil {
		_ = (*l).Close() // it may be closed already
	}
}
