package load

import (
	"syscall"
	"time"
)

// preciseSleep has the kernel wake this thread on time rather than up to 50 µs
// late. Where that is not allowed sleeps are a little longer, for every target.
func preciseSleep() {
	const setTimerSlack = 29 // PR_SET_TIMERSLACK
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}

// nap sleeps on the thread itself. A signal may end it early.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil)
}
