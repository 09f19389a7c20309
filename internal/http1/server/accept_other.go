//go:build !linux

package server

import "syscall"

// offNetwork repeats another error of accept, because this system does not have ENONET.
const offNetwork = syscall.ENETDOWN
