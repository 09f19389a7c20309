package server

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// consume removes n bytes from the input and releases the buffer when it is empty.
func (c *conn) consume(n int) {
	if c.input.start += n; c.input.start == c.input.end {
		c.input.release()
		c.input = nil
	}
}

// arm sets the deadline of the next reads to limit, or later by at most slack. The slack avoids
// setting the deadline for every read.
func (c *conn) arm(limit time.Time, slack time.Duration) {
	if d := c.limit.Sub(limit); d >= 0 && d <= slack {
		return
	}
	c.limit = limit.Add(slack)
	_ = c.nc.SetReadDeadline(c.limit) // fails only on a closed connection, as the read does
}

// armFor is arm for a duration from now. Zero means no limit.
func (c *conn) armFor(d time.Duration) {
	if d > 0 {
		c.armFrom(time.Now(), d)
	}
}

// armFrom is armFor for a duration from start.
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
		return net.ErrClosed // it was unused and is being closed
	}
	return nil
}

// receive reads once into a buffer. If possible, it gets the buffer only when there is data,
// because a connection is idle most of the time.
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

// arrive reads from a descriptor that may have data. It returns false if there was none.
func (c *conn) arrive(fd uintptr) bool {
	buf := getBuffer()
	n, err := syscall.Read(int(fd), buf.b)
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Read(int(fd), buf.b)
	}
	if n > 0 {
		buf.end = n
		c.input, c.failed = buf, nil
		return true
	}
	buf.release()
	if c.failed = err; err == nil {
		c.failed = net.ErrClosed // closed by the client
	}
	return !errors.Is(err, syscall.EAGAIN)
}
