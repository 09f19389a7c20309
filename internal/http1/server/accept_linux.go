package server

import "syscall"

// offNetwork is an error of accept that only Linux has.
const offNetwork = syscall.ENONET
