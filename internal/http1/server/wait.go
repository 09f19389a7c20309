package server

import (
	"errors"
	"net"
	"syscall"
	"time"

	"sluice/internal/http1/socket"
)

// inputReader reads the bytes that a client sends. It has a buffer only while there are some, and
// sets the deadlines of the reads.
type inputReader struct {
	socket *clientSocket
	input  *buffer            // bytes read and not consumed, nil when there are none
	limit  time.Time          // read deadline in force; zero means none
	take   func(uintptr) bool // the method arrive, bound once to avoid allocations
	failed error              // error of the last arrive
}

// consume removes n bytes from the input and releases the buffer when it is empty.
func (in *inputReader) consume(n int) {
	if in.input.start += n; in.input.start == in.input.end {
		in.input.release()
		in.input = nil
	}
}

// arm sets the deadline of the next reads to limit, or later by at most slack. The slack avoids
// setting the deadline for every read.
func (in *inputReader) arm(limit time.Time, slack time.Duration) {
	if d := in.limit.Sub(limit); d >= 0 && d <= slack {
		return
	}
	in.limit = limit.Add(slack)
	_ = in.socket.nc.SetReadDeadline(in.limit) // fails only on a closed connection, as the read does
}

// armFor is arm for a duration from now. Zero means no limit.
func (in *inputReader) armFor(d time.Duration) {
	if d > 0 {
		in.armFrom(time.Now(), d)
	}
}

// armFrom is armFor for a duration from start.
func (in *inputReader) armFrom(start time.Time, d time.Duration) {
	if d > 0 {
		in.arm(start.Add(d), min(time.Second, d/8))
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
func (in *inputReader) receive() error {
	if in.socket.tls || in.socket.raw == nil {
		in.input = getBuffer()
		err := in.input.fill(in.socket.nc, 0)
		if err != nil {
			in.consume(0)
		}
		return err
	}
	if err := in.socket.raw.Read(in.take); err != nil {
		return err
	}
	return in.failed
}

// arrive reads from a descriptor that may have data. It returns false if there was none.
func (in *inputReader) arrive(fd uintptr) bool {
	buf := getBuffer()
	n, err := socket.Read(int(fd), buf.b)
	for errors.Is(err, syscall.EINTR) {
		n, err = socket.Read(int(fd), buf.b)
	}
	if n > 0 {
		buf.end = n
		in.input, in.failed = buf, nil
		return true
	}
	buf.release()
	if in.failed = err; err == nil {
		in.failed = net.ErrClosed // closed by the client
	}
	return !errors.Is(err, syscall.EAGAIN)
}
