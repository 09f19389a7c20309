//go:build linux && (amd64 || arm64) && !race

package transport

import (
	"syscall"
	"unsafe"
)

// nothingCame reports whether a socket is open and has nothing to read. There is one such
// look for every call on a pooled connection, and it never waits: like the reads of
// wire/socket it is not announced to the runtime.
func nothingCame(fd int) bool {
	const flags = syscall.MSG_PEEK | syscall.MSG_DONTWAIT
	var one [1]byte
	for {
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&one[0])), uintptr(len(one)), flags, 0, 0)
		if errno != syscall.EINTR {
			return errno == syscall.EAGAIN
		}
	}
}
