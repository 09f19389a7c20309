package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// Reads are large, so that they cost few system calls; streams come in small parts
// anyway, and there may be ten thousand of them.
const (
	readSize       = 32 << 10
	readSizeStream = 4 << 10
)

var errLength = errors.New("an answer of the wrong length")

// client is one connection and its place in the fleet. It belongs to one goroutine.
type client struct {
	job    *Job
	ends   time.Time // when everything counts as hung
	conn   net.Conn  // nil after a failure
	reader reader
	events events
}

func newClient(j *Job, ends time.Time) *client {
	size := readSize
	if j.Events > 0 {
		size = readSizeStream
	}
	return &client{job: j, ends: ends, reader: reader{buf: make([]byte, size)}}
}

// dial opens the connection anew.
func (c *client) dial(ctx context.Context) error {
	c.close()
	d := net.Dialer{Deadline: c.ends}
	raw, err := d.DialContext(ctx, "tcp", c.job.Addr)
	if err != nil {
		return err
	}
	if err := raw.SetDeadline(c.ends); err != nil {
		_ = raw.Close()
		return err
	}
	c.conn = raw
	if c.job.TLS != nil {
		secure := tls.Client(raw, c.job.TLS)
		c.conn = secure
		if err := secure.HandshakeContext(ctx); err != nil {
			c.close()
			return err
		}
	}
	c.reader.reset(c.conn)
	return nil
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// do sends the request and reads the answer to its end. After an error the
// connection is gone, and the next call opens another.
func (c *client) do(ctx context.Context) error {
	if c.conn == nil {
		if err := c.dial(ctx); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	request := c.job.Request
	if c.job.Next != nil {
		request = c.job.Next()
	}
	if _, err := c.conn.Write(request); err != nil {
		c.close()
		return fmt.Errorf("send: %w", err)
	}
	a, err := c.readResponse()
	if err != nil || a.closes {
		c.close()
	}
	return err
}

func (c *client) readResponse() (responseHead, error) {
	var see func([]byte)
	if c.job.Events > 0 {
		c.events.reset()
		see = c.events.see
	}
	a, size, err := c.reader.response(see)
	switch {
	case err != nil:
		return a, fmt.Errorf("read the answer: %w", err)
	case a.status != 200:
		return a, fmt.Errorf("status %d", a.status)
	case c.job.Events > 0:
		return a, c.events.check(c.job.Events)
	case c.job.Body > 0 && size != int64(c.job.Body):
		return a, errLength
	}
	return a, nil
}
