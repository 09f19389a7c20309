package h1

import (
	"errors"
	"net"
	"syscall"
	"time"

	"sluice/internal/wire/socket"
)

// consume takes n bytes from the input, and parts with the buffer when it is empty.
func (c *conn) consume(n int) {
	if c.input.start += n; c.input.start == c.input.end {
		c.input.release()
		c.input = nil
	}
}

// arm bounds the reads that follow: they end at limit, or later by a slack, so that the
// limit need not be set for every one.
func (c *conn) arm(limit time.Time, slack time.Duration) {
	if d := c.limit.Sub(limit); d >= 0 && d <= slack {
		return
	}
	c.limit = limit.Add(slack)
	_ = c.nc.SetReadDeadline(c.limit) // fails only when closed, as the read does
}

// armFor is arm for a time from now. Zero stands for no limit.
func (c *conn) armFor(d time.Duration) {
	if d > 0 {
		c.armFrom(time.Now(), d)
	}
}

// armFrom is armFor for a time from another one.
func (c *conn) armFrom(start time.Time, d time.Duration) {
	if d > 0 {
		c.arm(start.Add(d), min(time.Second, d/8))
	}
}

// await waits for the first bytes of the next request.
func (c *conn) await() error {
	if c.state.Load() == fresh {
		c.armFor(c.s.Rest.ReadHeaderTimeout)
	} else {
		c.armFrom(c.idleAt, c.s.Rest.IdleTimeout)
	}
	if err := c.receive(); err != nil {
		return err
	}
	if !c.state.CompareAndSwap(unused, reading) && !c.state.CompareAndSwap(fresh, reading) {
		return net.ErrClosed // it was found unused and is being closed
	}
	return nil
}

// receive reads once into a buffer. Where it can, it takes one only when there is
// something to read, because a connection waits most of its life.
func (c *conn) receive() error {
	if c.tls || c.raw == nil {
		c.input = getBuffer()
		err := c.input.fill(c.nc, 0)
		if err != nil {
			c.consume(0)
		}
		return err
	}
	if err := c.raw.Read(c.take); err != nil {
		return err
	}
	return c.failed
}

// arrive reads from a descriptor that may have something, and reports whether it had.
func (c *conn) arrive(fd uintptr) bool {
	buf := getBuffer()
	n, err := socket.Read(int(fd), buf.b)
	for errors.Is(err, syscall.EINTR) {
		n, err = socket.Read(int(fd), buf.b)
	}
	if n > 0 {
		buf.end = n
		c.input, c.failed = buf, nil
		return true
	}
	buf.release()
	if c.failed = err; err == nil {
		c.failed = net.ErrClosed // by the client
	}
	return !errors.Is(err, syscall.EAGAIN)
}
