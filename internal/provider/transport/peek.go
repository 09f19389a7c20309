package transport

import (
	"errors"
	"net"
	"syscall"

	"sluice/internal/wire/socket"
)

// peeker looks whether a connection has something to read without reading it.
type peeker struct {
	control syscall.RawConn
	look    func(fd uintptr)
	quiet   *bool
}

// newPeeker makes a peeker once per connection, so that looking allocates nothing.
func newPeeker(nc net.Conn) peeker {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return peeker{}
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return peeker{}
	}
	p := peeker{control: rc, quiet: new(bool)}
	p.look = func(fd uintptr) {
		var one [1]byte
		_, err := socket.Peek(int(fd), one[:])
		*p.quiet = errors.Is(err, syscall.EAGAIN)
	}
	return p
}

// silent reports whether the peer has neither sent nor closed anything. Of a
// connection that cannot be looked at it says yes.
func (p peeker) silent() bool {
	if p.control == nil {
		return true
	}
	*p.quiet = false
	return p.control.Control(p.look) == nil && *p.quiet
}
