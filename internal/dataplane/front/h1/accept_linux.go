package h1

import "syscall"

// offNetwork is an error of accepting that only this system has.
const offNetwork = syscall.ENONET
