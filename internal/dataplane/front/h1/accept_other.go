//go:build !linux

package h1

import "syscall"

// offNetwork stands for no further error of accepting here.
const offNetwork = syscall.ENETDOWN
