//go:build !linux || (!amd64 && !arm64) || race

package socket

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// Wrap returns the connection as it is.
func Wrap(nc net.Conn) net.Conn { return nc }

// SetWriteStall reports that it bounds nothing.
func SetWriteStall(net.Conn, time.Duration) bool { return false }

// Read is syscall.Read.
func Read(fd int, p []byte) (int, error) { return syscall.Read(fd, p) }

// Peek is Read that leaves what it finds; it never waits, whatever the mode, nor fails with
// EINTR.
func Peek(fd int, p []byte) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(fd, p, syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// WriteBuffers writes several pieces in one call of the system where it can, and empties
// them.
func WriteBuffers(nc net.Conn, parts *net.Buffers) error {
	_, err := parts.WriteTo(nc)
	return err
}
