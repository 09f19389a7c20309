package duckdb

import (
	"runtime"
	"syscall"
)

// niceness is that of questions and of sums that are worked out: model traffic goes first.
const niceness = 10

// quietly runs f on a thread of its own that yields to others. The thread ends with f:
// nobody may make it as urgent again as it was.
func quietly(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // without an unlock the thread ends with the goroutine
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), niceness)
		done <- f()
	}()
	return <-done
}
