package h1

import (
	"container/list"
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

	"sluice/internal/dataplane/front"
	"sluice/internal/wire"
	"sluice/internal/wire/socket"
)

// What a connection does.
const (
	fresh   int32 = iota // has not sent a byte of a request yet
	unused               // waits for the next one
	reading              // the head of a request is being read
	active               // a request is being answered, its body read
	closed               // is being closed by another goroutine
)

// conn is one connection of a client. It belongs to the goroutine that serves it but
// for what others look at, which is marked.
type conn struct {
	s         *Server
	nc        net.Conn        // where HTTP is spoken: TLS, or tcp itself
	tcp       net.Conn        // closing it never waits
	raw       syscall.RawConn // of tcp, nil when it has none
	fd        int32           // likewise
	tls       bool
	tlsReader *tlsReader         // between TLS and tcp, nil in the clear
	cancel    context.CancelFunc // ends the request at hand; safe for concurrent use
	remote    string             // address without port
	since     time.Time
	setIndex  int // in the crowd, which guards it

	client    netip.Addr   // whose share of silent connections it counts towards
	silent    bool         // has not sent a complete request
	idleSince atomic.Int64 // Unix time in nanoseconds, while state is unused

	// What follows belongs to Server.evictions, which guards it.
	inSilent, inClient *list.Element // nil unless it counts as silent
	silentSince        time.Time     // when it began to
	evicted            bool          // and still holds its slot
	gone               bool          // has ended
	http2              bool          // served elsewhere, several requests at once
	streams            bool          // likewise, and net/http knows of an open stream
	handlers           int           // requests that are being served elsewhere
	waiting            int           // and those whose body has not come (bodyWait)

	bounded bool // tcp itself bounds how long a write waits

	state   atomic.Int32
	listens atomic.Bool // the request came to its end, and nothing came behind it

	input    *buffer            // what was read and not consumed, nil when nothing is
	limit    time.Time          // of reads, in force; zero means none
	idleAt   time.Time          // when it began to wait for the request at hand
	take     func(uintptr) bool // arrive, made once
	failed   error              // of arrive
	header   wire.Header        // kept for its room
	req      wire.Request
	body     *body // of the request at hand, nil when it has none
	reusable bool  // the client may send another request
	out      responseWriter
}

func newConn(s *Server, nc net.Conn, cancel context.CancelFunc) *conn {
	c := &conn{s: s, nc: nc, tcp: nc, cancel: cancel, since: time.Now(), fd: -1, client: clientOf(nc), silent: true}
	c.bounded = socket.SetWriteStall(nc, s.Patience.WriteStall)
	c.out.c = c
	if sc, ok := nc.(syscall.Conn); ok {
		if rc, err := sc.SyscallConn(); err == nil {
			c.raw = rc
			_ = rc.Control(func(fd uintptr) { c.fd = int32(fd) }) // fails only when closed, as the first read does
		}
	}
	c.take = c.arrive
	if c.remote = nc.RemoteAddr().String(); c.remote != "" {
		if host, _, err := net.SplitHostPort(c.remote); err == nil {
			c.remote = host
		}
	}
	return c
}

// serve answers requests until one of both sides has enough.
func (c *conn) serve(ctx context.Context) {
	transferred := false
	defer func() {
		if v := recover(); v != nil {
			c.s.Log.Error("panic in connection handler", "panic", v, "stack", string(debug.Stack()))
		}
		c.cancel()
		c.s.conns.remove(c)
		if c.body != nil {
			c.body.finish(false) // after a panic somebody may still read it
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

// step is what is to come after a request.
type step int

const (
	serveNext step = iota
	closeNow
	lingerOn // close, but so that the client has the answer before
	handOver // the request is not for here
)

// exchange reads one request and answers it.
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
	case c.input != nil: // further requests, which are not served any more
		return lingerOn
	}
	return closeNow
}

// prepareNextRequest makes the connection one that waits for the next request, and reports whether
// there shall be one.
func (c *conn) prepareNextRequest() bool {
	clear(c.header[:cap(c.header)]) // it would hold on to the text
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

// watchDisconnect notes that the request came to its end: from now on the client is looked after,
// unless its next request is here already. Its own body may still lie in the input.
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

// hasNoExtraInput reports whether the input holds nothing beyond the request at hand.
func (c *conn) hasNoExtraInput() bool {
	return c.input == nil || c.body != nil && c.body.holdsOnlyBody()
}

// shakeHands begins TLS. What the client chooses to speak decides who goes on.
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
		c.http2 = true // before others look at it
		return handOver
	}
	return serveNext
}

// inTheClear reports whether a handshake failed because what came looks like a request of
// HTTP instead: it begins with a method. Nothing was written to its client then.
func inTheClear(err error) bool {
	var no tls.RecordHeaderError
	if !errors.As(err, &no) || no.Conn == nil {
		return false
	}
	method, _, _ := strings.Cut(string(no.RecordHeader[:]), " ")
	return method != "" && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// handOver gives the connection to the other server, with what was read of it.
func (c *conn) handOver() {
	_ = c.nc.SetReadDeadline(time.Time{}) // fails only when closed, as the next read does
	_ = c.nc.SetWriteDeadline(time.Time{})
	nc := c.nc
	switch {
	case c.tls && c.input == nil: // net/http has to see TLS itself to serve HTTP/2
	case c.tls:
		nc = &prereadTLSConn{prereadConn{nc, c, append([]byte(nil), c.input.unread()...)}}
	default:
		nc = &prereadConn{nc, c, append([]byte(nil), c.input.unread()...)}
	}
	c.header, c.req = nil, wire.Request{} // the connection may be open for long
	c.s.evictions.addRest(c)
	if !c.s.handover.deliver(nc) {
		c.s.release(c)
	}
}

// lingering is how long a client has to take its answer while what it still sends is
// thrown away. Closing at once would take the answer back. It is net/http's time.
const lingering = 500 * time.Millisecond

// lingeringClose closes the sending side, and returns when the client has closed the other. A
// client that goes on sending finds that it is hardly read any more.
func (c *conn) lingeringClose() {
	if closeWrite(c.nc) != nil {
		return
	}
	_ = c.tcp.SetReadDeadline(time.Now().Add(lingering)) // fails only when closed, as the read does
	buf := getBuffer()
	defer buf.release()
	for n := 0; ; {
		k, err := c.tcp.Read(buf.b)
		if err != nil {
			return
		}
		if n += k; n > front.Leftover {
			time.Sleep(lingering / 50)
		}
	}
}

// freshFor is how long a connection may take to its first request when everything is to
// end. It is net/http's time.
const freshFor = 5 * time.Second

// closeUnused closes the connection if no request is being served. It is safe for
// concurrent use, as abort is.
func (c *conn) closeUnused(now time.Time) {
	if c.state.CompareAndSwap(unused, closed) || now.Sub(c.since) > freshFor && c.state.CompareAndSwap(fresh, closed) {
		c.tcp.Close()
	}
}

// abort closes the connection and ends its request.
func (c *conn) abort() {
	c.state.Store(closed)
	c.cancel()
	c.tcp.Close()
}
