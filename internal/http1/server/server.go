package server

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

	"sluice/internal/http1/socket"
	"sluice/internal/kernel/wire"
)

// gateway serves the requests; *gateway.Gateway implements it.
type gateway interface {
	Serve(ctx context.Context, req *wire.Request, out wire.Responder) error
}

// Server serves one listener. Set its exported fields before Serve and do not change them
// afterwards. Gateway, IsModelRoute, Rest, Patience and Log are required. Safe for concurrent use.
type Server struct {
	Gateway gateway
	// IsModelRoute reports whether a request is for the gateway; all others are handed over. path
	// is escaped as received: "/v1/files/a%2Fb". Names in h are in lower case. h is valid only
	// during the call.
	IsModelRoute func(method, path string, h wire.Header) bool
	// Rest serves the connections that are handed over. Server starts and stops it and makes it
	// close HTTP/1 connections after the response. Its ReadHeaderTimeout, IdleTimeout and
	// MaxHeaderBytes apply here, too. So does its TLSConfig, if any, which must list the
	// protocols in NextProtos. Server sets its ConnState and ConnContext.
	Rest     *http.Server
	Patience ClientTimeouts // usually UsualTimeouts()
	Log      *slog.Logger   // rejections at level debug, panics as errors
	// MaxConns is the maximum number of open connections. A further connection closes the oldest
	// one that has not sent a complete request, else the one that has waited longest for its next
	// request. While all are in use, the further connection waits. 0 means no limit.
	MaxConns int
	// MaxSilentPerClient is the maximum number of open connections that have not sent a complete
	// request, for one client address or one IPv6 /64 network. A further one closes the oldest of
	// them. 0 means half of MaxConns, at least 8 and at most 4,096.
	MaxSilentPerClient int
	// MaxUnauthenticatedBody is the maximum time for the body of a request that Rest serves,
	// unless its handler calls MarkAuthenticated. 0 means 10 seconds.
	MaxUnauthenticatedBody time.Duration

	dates     dates
	conns     connSet
	limiter   connLimiter
	crowded   atomic.Bool // a connection waits for a free slot
	evictions evictions
	handover  handover
	tls       *tls.Config // nil without TLS
	listener  atomic.Pointer[net.Listener]
	leaving   atomic.Bool // each response is the last of its connection
	draining  atomic.Bool
}

// Serve accepts connections until Shutdown or Close and then returns http.ErrServerClosed. Any
// other error comes from the listener. ctx is the parent of the requests' contexts; cancelling it
// cancels all requests. It must be called once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.conns.open()
	s.limiter.open(s.MaxConns)
	s.handover.open(l.Addr())
	s.tls = s.Rest.TLSConfig // before Rest sets its own config, which it does even without TLS
	s.listener.Store(&l)
	if s.draining.Load() { // Shutdown ran before the listener was stored
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

// passing reports whether accept may succeed again later: the client disconnected early, its
// connection failed, a firewall blocked it, or the system lacks resources. Source: accept(2),
// which passes on the errors of the new connection.
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

// admit serves a connection in a new goroutine.
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

// DrainConnections makes each response from now on the last of its connection, also for Rest.
// Clients then open new connections, which a load balancer sends to other nodes. The server still
// accepts connections and requests.
func (s *Server) DrainConnections() { s.leaving.Store(true) }

// Shutdown stops accepting, closes unused connections, also those of Rest, and waits until the
// others have ended. If ctx ends before, it closes them and returns ctx's error.
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

// stop stops accepting; open connections end with their next response.
func (s *Server) stop() {
	s.leaving.Store(true)
	s.draining.Store(true)
	if l := s.listener.Load(); l != nil {
		_ = (*l).Close() // it may already be closed
	}
}
