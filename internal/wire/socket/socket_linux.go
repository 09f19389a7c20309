//go:build linux && (amd64 || arm64) && !race

package socket

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Wrap returns the connection with cheaper calls where it is a TCP connection, else as it
// is. It is safe for concurrent use, as every net.Conn is: who has written what is
// answered may still be on the way back from its Write when the next one writes.
func Wrap(nc net.Conn) net.Conn {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nc
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nc
	}
	c := &conn{TCPConn: tcp, raw: raw}
	c.reads.call, c.out.call = c.reads.read, c.write
	return c
}

// SetWriteStall bounds how long a write of nc waits for the other side to take something, each
// write anew, and reports whether it can: nc must come from Of. A write that goes on for
// longer ends with os.ErrDeadlineExceeded, and all that follow do so at once. While a
// deadline of writes is set, that holds alone. It is called before nc is used.
func SetWriteStall(nc net.Conn, limit time.Duration) bool {
	c, ok := nc.(*conn)
	if ok {
		c.stall = limit
	}
	return ok
}

// conn is a TCP connection. What is not for speed is inherited.
type conn struct {
	*net.TCPConn
	raw    syscall.RawConn
	reads  transfer      // reads
	out    transfer      // writes
	stall  time.Duration // of a write, zero for none
	timed  bool          // the deadline of writes is that of the stall; out.mu guards it
	theirs atomic.Bool   // the deadline of writes was set from outside
}

// transfer is what moves bytes in one direction, one call at a time.
type transfer struct {
	mu   sync.Mutex // guards what follows for the time of a call
	p    []byte
	n    int
	err  error
	call func(fd uintptr) (done bool) // made once
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.reads.mu.Lock()
	defer c.reads.mu.Unlock()
	c.reads.p = p
	err := c.raw.Read(c.reads.call)
	c.reads.p = nil
	switch {
	case err != nil:
		return 0, err
	case c.reads.err != nil:
		return 0, c.failure("read", c.reads.err)
	case c.reads.n == 0:
		return 0, io.EOF
	}
	return c.reads.n, nil
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.out.p, c.out.n, c.out.err = p, 0, nil
	err := c.raw.Write(c.out.call)
	c.out.p = nil
	if err == nil {
		c.relax()
	}
	if err == nil && c.out.err != nil {
		err = c.failure("write", c.out.err)
	}
	return c.out.n, err
}

// WriteBuffers writes several pieces in one call of the system where nc came from Of, and
// empties them.
func WriteBuffers(nc net.Conn, buffers *net.Buffers) error {
	if c, ok := nc.(*conn); ok {
		c.out.mu.Lock()
		defer c.out.mu.Unlock()
		c.armStall() // before it has to wait: the pieces are many bytes, and net does not say when it does
		_, err := buffers.WriteTo(c.TCPConn)
		if err == nil {
			c.relax()
		}
		return err
	}
	_, err := buffers.WriteTo(nc)
	return err
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.theirs.Store(!t.IsZero())
	return c.TCPConn.SetWriteDeadline(t)
}

// armStall begins the time in which the write at hand has to end.
func (c *conn) armStall() {
	if c.stall > 0 && !c.timed && !c.theirs.Load() {
		c.timed = true
		_ = c.TCPConn.SetWriteDeadline(time.Now().Add(c.stall)) // fails only when closed, as the write does
	}
}

// relax ends that time, when the write has come through.
func (c *conn) relax() {
	if !c.timed {
		return
	}
	c.timed = false
	if !c.theirs.Load() { // else it has been replaced meanwhile
		_ = c.TCPConn.SetWriteDeadline(time.Time{}) // likewise
	}
}

// failure describes an error as net does.
func (c *conn) failure(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, err)}
}

// read reads once from a descriptor that may have something.
func (t *transfer) read(fd uintptr) bool {
	t.n, t.err = Read(int(fd), t.p)
	return !errors.Is(t.err, syscall.EAGAIN)
}

// write writes as much as the descriptor takes. Only before it waits for more, which few
// writes do, it looks at the time.
func (c *conn) write(fd uintptr) bool {
	t := &c.out
	for t.n < len(t.p) {
		n, err := write(int(fd), t.p[t.n:])
		t.err = err
		switch {
		case errors.Is(err, syscall.EAGAIN):
			c.armStall()
			return false
		case err != nil:
			return true
		}
		t.n += n
	}
	return true
}

// Read is syscall.Read of a socket in non-blocking mode.
func Read(fd int, p []byte) (int, error) { return call(syscall.SYS_RECVFROM, fd, p, 0) }

// Peek is Read that leaves what it finds; it never waits, whatever the mode, nor fails with
// EINTR.
func Peek(fd int, p []byte) (int, error) { return call(syscall.SYS_RECVFROM, fd, p, syscall.MSG_PEEK) }

func write(fd int, p []byte) (int, error) { return call(syscall.SYS_SENDTO, fd, p, 0) }

// call makes a system call that moves bytes; p is not empty. Those of sockets spare the
// layer of files. A connection that is gone is an error and no signal.
func call(trap uintptr, fd int, p []byte, more uintptr) (int, error) {
	flags := syscall.MSG_DONTWAIT | syscall.MSG_NOSIGNAL | more
	for {
		n, _, errno := syscall.RawSyscall6(trap, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), flags, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
