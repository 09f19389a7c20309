//go:build !linux || (!amd64 && !arm64) || race

package transport

import (
	"errors"
	"syscall"
)

// nothingCame reports whether a socket is open and has nothing to read.
func nothingCame(fd int) bool {
	var one [1]byte
	_, _, err := syscall.Recvfrom(fd, one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return errors.Is(err, syscall.EAGAIN)
}
