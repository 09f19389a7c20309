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

// Wrap returns a TCP connection with cheaper system calls, and any other connection unchanged.
// It is safe for concurrent use like every net.Conn: one writer may still return from Write
// when the next one writes.
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

// SetWriteStall limits the time for which each write of nc waits until the peer accepts bytes,
// and reports whether nc supports this: nc must come from Wrap. A write that waits longer
// returns os.ErrDeadlineExceeded, and so do all later writes immediately. A write deadline
// replaces the limit while it is set. Call SetWriteStall before nc is used.
func SetWriteStall(nc net.Conn, limit time.Duration) bool {
	c, ok := nc.(*conn)
	if ok {
		c.stall = limit
	}
	return ok
}

// conn is a TCP connection. It inherits all methods that do not need to be fast.
type conn struct {
	*net.TCPConn
	raw    syscall.RawConn
	reads  transfer      // reads
	out    transfer      // writes
	stall  time.Duration // limit of a write, zero for none
	timed  bool          // the write deadline is that of the stall limit; out.mu guards it
	theirs atomic.Bool   // the caller has set a write deadline
}

// transfer moves bytes in one direction, one call at a time.
type transfer struct {
	mu   sync.Mutex // guards the following during a call
	p    []byte
	n    int
	err  error
	call func(fd uintptr) (done bool) // created once
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

// WriteBuffers writes several buffers in one system call when nc comes from Wrap, and empties
// them.
func WriteBuffers(nc net.Conn, buffers *net.Buffers) error {
	if c, ok := nc.(*conn); ok {
		c.out.mu.Lock()
		defer c.out.mu.Unlock()
		c.armStall() // before waiting: there are many bytes, and net does not report when it waits
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

// armStall starts the time limit of the current write.
func (c *conn) armStall() {
	if c.stall > 0 && !c.timed && !c.theirs.Load() {
		c.timed = true
		_ = c.TCPConn.SetWriteDeadline(time.Now().Add(c.stall)) // fails only when closed, as the write does
	}
}

// relax clears the time limit after the write has succeeded.
func (c *conn) relax() {
	if !c.timed {
		return
	}
	c.timed = false
	if !c.theirs.Load() { // otherwise the caller has replaced it
		_ = c.TCPConn.SetWriteDeadline(time.Time{}) // likewise
	}
}

// failure wraps an error in the same way as net.
func (c *conn) failure(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, err)}
}

// read reads once from a descriptor that may have data.
func (t *transfer) read(fd uintptr) bool {
	t.n, t.err = Read(int(fd), t.p)
	return !errors.Is(t.err, syscall.EAGAIN)
}

// write writes as many bytes as the descriptor accepts. It reads the time only before it waits,
// which few writes do.
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

// Peek is Read without consuming the data. It never waits, whatever the mode, and never fails
// with EINTR.
func Peek(fd int, p []byte) (int, error) { return call(syscall.SYS_RECVFROM, fd, p, syscall.MSG_PEEK) }

func write(fd int, p []byte) (int, error) { return call(syscall.SYS_SENDTO, fd, p, 0) }

// call makes a system call that moves bytes. p must not be empty. Socket calls avoid the file
// layer. A closed connection is an error and does not raise a signal.
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
