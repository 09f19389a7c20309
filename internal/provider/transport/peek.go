package transport

import (
	"errors"
	"net"
	"syscall"

	"sluice/internal/http1/socket"
)

// socketProbe checks whether a connection has data to read, without reading it.
type socketProbe struct {
	control syscall.RawConn
	check   func(fd uintptr)
	quiet   *bool
}

// newPeeker creates the probe once per connection, so that a check allocates nothing.
func newPeeker(nc net.Conn) socketProbe {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return socketProbe{}
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return socketProbe{}
	}
	p := socketProbe{control: rc, quiet: new(bool)}
	p.check = func(fd uintptr) {
		var one [1]byte
		_, err := socket.Peek(int(fd), one[:])
		*p.quiet = errors.Is(err, syscall.EAGAIN)
	}
	return p
}

// silent reports whether the peer has neither sent data nor closed the connection. It returns
// true for a connection that cannot be checked.
func (p socketProbe) silent() bool {
	if p.control == nil {
		return true
	}
	*p.quiet = false
	return p.control.Control(p.check) == nil && *p.quiet
}
