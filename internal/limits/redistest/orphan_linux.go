package redistest

import "syscall"

// diesWithUs lets the kernel end a server when the test binary is killed, so that a test
// that runs into its time limit leaves no process.
func diesWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
