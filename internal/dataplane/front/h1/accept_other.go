//go:build !linux

package h1

import "syscall"

// offNetwork repeats another error of accept, because this system does not have ENONET.
const offNetwork = syscall.ENETDOWN
