package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"os"
	"strings"
	"time"
)

// maxHead is the largest request head that is read, in bytes.
const maxHead = 1 << 20

var errBadHead = errors.New("request head is not HTTP/1.1")

// conn is one HTTP/1.1 connection. It belongs to its goroutine.
type conn struct {
	s   *Server
	nc  net.Conn // TLS or raw, what is read and written
	raw net.Conn // the TCP connection
	br  *bufio.Reader
	id  int
}

func newConn(s *Server, nc, raw net.Conn, id int) *conn {
	return &conn{s: s, nc: nc, raw: raw, br: bufio.NewReaderSize(nc, 64<<10), id: id}
}

func (c *conn) run() {
	for c.one() {
	}
}

// one serves a request and reports whether the connection can have another.
func (c *conn) one() bool {
	head, err := c.readHead()
	if err != nil {
		return false
	}
	seen := &Seen{Conn: c.id, Head: head, Received: time.Now()}
	bad := parseHead(seen)
	c.s.seen.add(seen)
	if bad != nil {
		c.s.seen.update(seen, func(x *Seen) { x.BodyErr = bad })
		_, _ = c.nc.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
		return false
	}
	return c.serve(seen) && !strings.EqualFold(seen.Get("Connection"), "close")
}

// serve answers a request and takes its body in, in the order that its script or
// fault wants.
func (c *conn) serve(seen *Seen) bool {
	early := c.s.early(*seen)
	if early != nil && early.Early {
		return c.respond(seen, *early) && c.readBody(seen, 0) == nil
	}
	var pause time.Duration
	if early != nil {
		pause = early.ReadPause
	}
	if c.readBody(seen, pause) != nil {
		c.left(seen)
		return false
	}
	r := c.s.respond(*seen)
	if r == nil {
		c.upgrade(seen)
		return false
	}
	return c.respond(seen, *r)
}

// readHead returns the bytes up to and with the empty line.
func (c *conn) readHead() ([]byte, error) {
	var head []byte
	for {
		line, err := c.br.ReadSlice('\n')
		head = append(head, line...)
		switch {
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(head) > maxHead:
			return nil, errBadHead
		case err == nil && (len(line) == 1 || len(line) == 2 && line[0] == '\r'):
			return head, nil
		}
	}
}

// parseHead fills the fields that the head contains.
func parseHead(seen *Seen) error {
	if hasBareLF(seen.Head) {
		return errBadHead
	}
	lines := strings.Split(strings.TrimRight(string(seen.Head), "\r\n"), "\r\n")
	parts := strings.Split(lines[0], " ")
	if len(parts) != 3 || !strings.HasPrefix(parts[2], "HTTP/1.") {
		return errBadHead
	}
	seen.Method, seen.Target, seen.Proto = parts[0], parts[1], parts[2]
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return errBadHead
		}
		seen.Header = append(seen.Header, Field{name, strings.Trim(value, " \t")})
	}
	seen.Host = seen.Get("Host")
	return nil
}

// left notes that the caller went before the answer was out.
func (c *conn) left(seen *Seen) {
	c.s.seen.update(seen, func(x *Seen) {
		if x.Cancelled.IsZero() && x.Answered.IsZero() {
			x.Cancelled = time.Now()
		}
	})
}

// watch looks for the caller's leaving while an answer takes its time. Gone is
// closed when it left; stop ends the watch, and what the caller sent meanwhile
// stays to be read.
func (c *conn) watch(seen *Seen) (gone <-chan struct{}, stop func()) {
	left, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := c.br.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.left(seen)
			close(left)
		}
	}()
	return left, func() {
		_ = c.nc.SetReadDeadline(time.Unix(1, 0))
		<-ended
		_ = c.nc.SetReadDeadline(time.Time{})
	}
}

// sleep waits d; false means that the caller left or the server was closed.
func (s *Server) sleep(d time.Duration, gone <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-gone:
	case <-s.closed:
	}
	return false
}

// hold waits until the caller leaves or the server is closed.
func (s *Server) hold(gone <-chan struct{}) {
	select {
	case <-gone:
	case <-s.closed:
	}
}

// reset breaks the connection so that the peer sees a reset, not an end.
func (c *conn) reset() {
	if tcp, ok := c.raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.raw.Close()
}

// hasBareLF reports line ends that are not CR LF.
func hasBareLF(head []byte) bool {
	return bytes.Count(head, []byte("\n")) != bytes.Count(head, []byte("\r\n"))
}
