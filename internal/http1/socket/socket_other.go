//go:build !linux || (!amd64 && !arm64) || race

package socket

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// Wrap returns the connection unchanged.
func Wrap(nc net.Conn) net.Conn { return nc }

// SetWriteStall returns false: it is not supported here.
func SetWriteStall(net.Conn, time.Duration) bool { return false }

// Read is syscall.Read.
func Read(fd int, p []byte) (int, error) { return syscall.Read(fd, p) }

// Peek is Read without consuming the data. It never waits, whatever the mode, and never fails
// with EINTR.
func Peek(fd int, p []byte) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(fd, p, syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// WriteBuffers writes several buffers in one system call where the system supports it, and
// empties them.
func WriteBuffers(nc net.Conn, parts *net.Buffers) error {
	_, err := parts.WriteTo(nc)
	return err
}
