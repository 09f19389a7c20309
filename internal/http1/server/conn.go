package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sluice/internal/http1/socket"
	"sluice/internal/kernel/wire"
)

// The states of a connection.
const (
	fresh   int32 = iota // has not sent a byte of a request yet
	unused               // waits for the next request
	reading              // the head of a request is being read
	active               // a request is being served and its body read
	closed               // another goroutine is closing the connection
)

// conn is one client connection. It belongs to the goroutine that serves it, except for the
// fields that are marked as shared. Its parts are its socket, the input read from it, the current
// request, the response writer, and its state for evictions.
type conn struct {
	s *Server
	clientSocket
	inputReader
	requestState
	out responseWriter
	evictionRecord

	cancel   context.CancelFunc // cancels the current request; safe for concurrent use
	remote   string             // address without port
	since    time.Time
	setIndex int // index in Server.conns, which guards it

	client    netip.Addr   // whose share of silent connections it counts towards
	silent    bool         // has not sent a complete request
	idleAt    time.Time    // when it began to wait for the current request
	idleSince atomic.Int64 // Unix time in nanoseconds, while state is unused; shared

	state   atomic.Int32 // shared
	listens atomic.Bool  // the request is complete, and no further bytes follow it; shared
}

// clientSocket is the socket of a connection, with TLS if the server uses it.
type clientSocket struct {
	nc        net.Conn        // where HTTP is read and written: TLS, or tcp itself
	tcp       net.Conn        // closing it never waits
	raw       syscall.RawConn // of tcp, nil when it has none
	fd        int32           // descriptor of tcp, -1 when raw is nil
	tls       bool
	tlsReader *tlsReader // between TLS and tcp, nil without TLS
	bounded   bool       // tcp itself limits how long a write waits
}

func newConn(s *Server, nc net.Conn, cancel context.CancelFunc) *conn {
	c := &conn{s: s, cancel: cancel, since: time.Now(), client: clientOf(nc), silent: true}
	c.clientSocket = clientSocket{nc: nc, tcp: nc, fd: -1}
	c.inputReader.socket = &c.clientSocket
	c.bounded = socket.SetWriteStall(nc, s.Patience.WriteStall)
	c.out.c = c
	if sc, ok := nc.(syscall.Conn); ok {
		if rc, err := sc.SyscallConn(); err == nil {
			c.raw = rc
			_ = rc.Control(func(fd uintptr) { c.fd = int32(fd) }) // fails only when closed, as the first read does
		}
	}
	c.take = c.inputReader.arrive
	if c.remote = nc.RemoteAddr().String(); c.remote != "" {
		if host, _, err := net.SplitHostPort(c.remote); err == nil {
			c.remote = host
		}
	}
	return c
}

// serve serves requests until the client or the server ends the connection.
func (c *conn) serve(ctx context.Context) {
	transferred := false
	defer func() {
		if v := recover(); v != nil {
			c.s.Log.Error("panic in connection handler", "panic", v, "stack", string(debug.Stack()))
		}
		c.cancel()
		c.s.conns.remove(c)
		if c.body != nil {
			c.body.finish(false) // after a panic another goroutine may still read it
		}
		if c.input != nil {
			c.input.release()
		}
		if !transferred {
			c.tcp.Close()
			c.s.release(c)
		}
	}()
	next := serveNext
	if c.s.tls != nil {
		next = c.shakeHands(ctx)
	}
	for next == serveNext {
		next = c.exchange(ctx)
	}
	switch next {
	case handOver:
		transferred = true
		c.handOver()
	case lingerOn:
		c.lingeringClose()
	case serveNext, closeNow:
	}
}

// step is the action that follows a request.
type step int

const (
	serveNext step = iota
	closeNow
	lingerOn // close, but only after the client could read the response
	handOver // net/http serves the request
)

// exchange reads one request and serves it.
func (c *conn) exchange(ctx context.Context) step {
	next, err := c.readRequest()
	switch {
	case err != nil:
		return c.refuse(err)
	case next != serveNext:
		return next
	}
	c.out.begin(c.req.Method)
	if c.body == nil || c.body.holdsOnlyBody() {
		c.watchDisconnect()
	}
	err = c.s.Gateway.Serve(ctx, &c.req, &c.out)
	complete := err == nil && c.out.finish() == nil
	c.out.free()
	read := c.body == nil || c.body.finish(complete)
	c.listens.Store(false)
	switch {
	case !complete || ctx.Err() != nil:
		return closeNow
	case !read:
		return lingerOn
	case c.reusable && c.prepareNextRequest():
		return serveNext
	case c.input != nil: // pipelined requests, which are not served any more
		return lingerOn
	}
	return closeNow
}

// prepareNextRequest resets the connection for the next request. It reports false when the server
// is draining, so that the connection must be closed.
func (c *conn) prepareNextRequest() bool {
	clear(c.header[:cap(c.header)]) // it would retain the text
	c.header, c.req, c.body = c.header[:0], wire.Request{}, nil
	now := time.Now()
	c.idleSince.Store(now.UnixNano())
	c.idleAt = now
	if c.input != nil {
		c.state.Store(reading)
		return !c.s.draining.Load()
	}
	c.state.Store(unused)
	return !c.s.draining.Load()
}

// watchDisconnect begins to watch for a disconnect of the client, because the request is complete.
// It does nothing when the next request has already arrived. The body of the current request may
// still be in the input.
func (c *conn) watchDisconnect() {
	if c.raw == nil || !c.hasNoExtraInput() {
		return
	}
	if c.tls {
		if c.drainTLSBuffer(); !c.hasNoExtraInput() {
			return
		}
	}
	c.listens.Store(true)
	c.s.conns.wakeUp()
}

// hasNoExtraInput reports whether the input contains nothing beyond the current request.
func (c *conn) hasNoExtraInput() bool {
	return c.input == nil || c.body != nil && c.body.holdsOnlyBody()
}

// shakeHands performs the TLS handshake. It hands clients that negotiate HTTP/2 over to net/http.
func (c *conn) shakeHands(ctx context.Context) step {
	limit := time.Now().Add(c.s.Rest.ReadHeaderTimeout)
	_ = c.tcp.SetDeadline(limit) // fails only when closed, as the handshake does
	c.tlsReader = &tlsReader{Conn: c.tcp, c: c}
	secure := tls.Server(c.tlsReader, c.s.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		if inTheClear(err) {
			return c.refuse(refusal(http.StatusBadRequest, "this port uses HTTPS, but the request is not encrypted; begin the address with https://"))
		}
		c.s.Log.Debug("TLS handshake failed", "remote", c.remote, "error", err.Error())
		return closeNow
	}
	_ = c.tcp.SetDeadline(time.Time{})
	c.nc, c.tls = secure, true
	if secure.ConnectionState().NegotiatedProtocol == "h2" {
		c.http2 = true // before other goroutines read it
		return handOver
	}
	return serveNext
}

// inTheClear reports whether a handshake failed because the client sent plain HTTP: the first
// bytes are a method. In that case nothing was written to the client.
func inTheClear(err error) bool {
	var no tls.RecordHeaderError
	if !errors.As(err, &no) || no.Conn == nil {
		return false
	}
	method, _, _ := strings.Cut(string(no.RecordHeader[:]), " ")
	return method != "" && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// handOver passes the connection to net/http, with the bytes that were already read.
func (c *conn) handOver() {
	_ = c.nc.SetReadDeadline(time.Time{}) // fails only when closed, as the next read does
	_ = c.nc.SetWriteDeadline(time.Time{})
	nc := c.nc
	switch {
	case c.tls && c.input == nil: // to serve HTTP/2, net/http must receive the TLS connection directly
	case c.tls:
		nc = &prereadTLSConn{prereadConn{nc, c, append([]byte(nil), c.input.unread()...)}}
	default:
		nc = &prereadConn{nc, c, append([]byte(nil), c.input.unread()...)}
	}
	c.header, c.req = nil, wire.Request{} // the connection may stay open for a long time
	c.s.evictions.addRest(c)
	if !c.s.handover.deliver(nc) {
		c.s.release(c)
	}
}

// lingering is how long a client has to read its response while further bytes from it are
// discarded. Closing at once would destroy the response. net/http uses the same duration.
const lingering = 500 * time.Millisecond

// lingeringClose closes the sending side and returns when the client has closed the other, or after
// lingering. A client that continues to send is read slowly.
func (cs *clientSocket) lingeringClose() {
	if closeWrite(cs.nc) != nil {
		return
	}
	_ = cs.tcp.SetReadDeadline(time.Now().Add(lingering)) // fails only when closed, as the read does
	buf := getBuffer()
	defer buf.release()
	for n := 0; ; {
		k, err := cs.tcp.Read(buf.b)
		if err != nil {
			return
		}
		if n += k; n > MaxLeftover {
			time.Sleep(lingering / 50)
		}
	}
}

// freshFor is how long a new connection may take to send its first request when the server
// shuts down. net/http uses the same duration.
const freshFor = 5 * time.Second

// closeUnused closes the connection if no request is being served. It and abort are safe for
// concurrent use.
func (c *conn) closeUnused(now time.Time) {
	if c.state.CompareAndSwap(unused, closed) || now.Sub(c.since) > freshFor && c.state.CompareAndSwap(fresh, closed) {
		c.tcp.Close()
	}
}

// abort closes the connection and cancels its request.
func (c *conn) abort() {
	c.state.Store(closed)
	c.cancel()
	c.tcp.Close()
}
