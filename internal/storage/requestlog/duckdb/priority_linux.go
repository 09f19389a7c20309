package duckdb

// #cgo LDFLAGS: -Wl,--wrap=duckdb_extract_statements -Wl,--wrap=duckdb_prepare_extracted_statement -Wl,--wrap=duckdb_pending_prepared -Wl,--wrap=duckdb_execute_pending
// #cgo LDFLAGS: -Wl,--wrap=duckdb_query -Wl,--wrap=duckdb_execute_prepared -Wl,--wrap=duckdb_append_data_chunk -Wl,--wrap=duckdb_appender_flush
// #include <stdbool.h>
// #include <stdint.h>
// #include <stdlib.h>
// struct helper;
// struct helper *quiet_new(const char *name, int done, uintptr_t who);
// void quiet_end(struct helper *h);
// void quiet_use(struct helper *h);
// void quiet_policy(struct helper *h, bool gentle);
import "C"

import (
	"errors"
	"os"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// helper is a thread that runs statements of DuckDB and yields to everything else, because model
// traffic goes first. Go threads keep their priority: a thread that yields and runs Go would
// block calls with runtime resources that it holds whenever the machine is busy.
// priority_linux.c describes how threads yield. It belongs to one goroutine at a time. A nil
// helper runs the work on the calling thread.
//
// The gain justifies the C code. With three busy loops next to the gateway, a reader of the log
// made the 99th percentile of calls 4 times as long with threads of niceness 10, and 30 times with
// idle threads that run Go. With helpers it is 0.9 to 1.2 times (2026-11-23, two cores of an AMD
// EPYC, Linux 6.18). `go -C test run ./benchlogs --delay 20ms` measures it again; docs/logs.md has
// later figures under "Effect of queries on calls".
type helper struct {
	cHelper  *C.struct_helper
	handle   cgo.Handle
	done     *os.File      // where it reports each finished job
	patience time.Duration // how long a job may take before the helper yields less
	hurried  bool          // it yields less now
	waited   time.Duration // total time of waiting for jobs
}

// newHelper creates a helper, whose thread has a name of up to 15 bytes; nil if the system lacks
// resources.
func newHelper(name string, patience time.Duration) *helper {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil
	}
	h := &helper{patience: patience, done: os.NewFile(uintptr(fd), "jobs that are done")}
	h.handle = cgo.NewHandle(h)
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	if h.cHelper = C.quiet_new(text, C.int(fd), C.uintptr_t(h.handle)); h.cHelper == nil {
		h.close()
		return nil
	}
	return h
}

// end stops the helper.
func (h *helper) end() {
	if h != nil {
		C.quiet_end(h.cHelper)
		h.close()
	}
}

func (h *helper) close() {
	h.handle.Delete()
	_ = h.done.Close() // nothing writes to it any more
}

// do runs f, whose statements run on the helper.
func (h *helper) do(f func() error) error {
	if h == nil {
		return f()
	}
	runtime.LockOSThread() // its statements run on the helper
	defer runtime.UnlockOSThread()
	C.quiet_use(h.cHelper)
	defer C.quiet_use(nil)
	return f()
}

// rest makes the helper yield fully again, and returns how long callers waited for its jobs since
// the last rest.
func (h *helper) rest() (waited time.Duration) {
	if h == nil {
		return 0
	}
	if h.hurried {
		h.raisePriority(false)
	}
	waited, h.waited = h.waited, 0
	return waited
}

// quietWait waits for the job of a helper.
//
//export quietWait
func quietWait(who C.uintptr_t) {
	h := cgo.Handle(who).Value().(*helper)
	began := time.Now()
	defer func() { h.waited += time.Since(began) }()
	if !h.hurried {
		_ = h.done.SetReadDeadline(began.Add(h.patience)) // without a deadline it never yields less
	}
	var count [8]byte
	_, err := h.done.Read(count[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		h.raisePriority(true)
		_, _ = h.done.Read(count[:]) // the caller checks the job too
	}
}

// raisePriority makes the helper yield less, or fully again.
func (h *helper) raisePriority(raise bool) {
	h.hurried = raise
	C.quiet_policy(h.cHelper, C.bool(raise))
	if raise {
		_ = h.done.SetReadDeadline(time.Time{})
	}
}
