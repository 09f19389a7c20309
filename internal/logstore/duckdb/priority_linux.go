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

// helper is a thread that works on statements of DuckDB and yields to everything else: model
// traffic goes first. Go itself stays as urgent as it is. A thread that yields and runs Go
// would keep from calls what it holds of the runtime whenever the machine is busy: with three
// busy loops beside the gateway a reader made the 99th percentile of calls 30 times as long
// (quiet_linux.c says how threads yield). It belongs to one goroutine at a time. Nil is one
// that leaves the work to who asked.
type helper struct {
	cHelper  *C.struct_helper
	handle   cgo.Handle
	done     *os.File      // where it tells of each job that is done
	patience time.Duration // a job may take before the helper is only gentle
	hurried  bool          // it is
	waited   time.Duration // for jobs
}

// newHelper makes one, whose thread has a name of up to 15 bytes; nil when the system has no
// room for it.
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

// end has the helper end.
func (h *helper) end() {
	if h != nil {
		C.quiet_end(h.cHelper)
		h.close()
	}
}

func (h *helper) close() {
	h.handle.Delete()
	_ = h.done.Close() // nobody writes to it any more
}

// do runs f, whose statements the helper works on.
func (h *helper) do(f func() error) error {
	if h == nil {
		return f()
	}
	runtime.LockOSThread() // whose statements are the helper's
	defer runtime.UnlockOSThread()
	C.quiet_use(h.cHelper)
	defer C.quiet_use(nil)
	return f()
}

// rest has the helper yield again if it was only gentle, and returns for how long its jobs
// were waited for since the last rest.
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
		_ = h.done.SetReadDeadline(began.Add(h.patience)) // without one there is no hurry
	}
	var count [8]byte
	_, err := h.done.Read(count[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		h.raisePriority(true)
		_, _ = h.done.Read(count[:]) // who asked looks at the job too
	}
}

// raisePriority has the helper be only gentle, or yield again.
func (h *helper) raisePriority(raise bool) {
	h.hurried = raise
	C.quiet_policy(h.cHelper, C.bool(raise))
	if raise {
		_ = h.done.SetReadDeadline(time.Time{})
	}
}
