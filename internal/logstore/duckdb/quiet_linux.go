package duckdb

// #cgo LDFLAGS: -Wl,--wrap=duckdb_prepare_extracted_statement -Wl,--wrap=duckdb_pending_prepared -Wl,--wrap=duckdb_execute_pending
// void quiet_begin(void);
// void quiet_end(void);
import "C"

import "runtime"

// quietly runs f, whose statements DuckDB works on in a thread of its own that yields to
// everything else: model traffic goes first. Go itself stays as urgent as it is. A thread
// that yields and runs Go would keep from calls what it holds of the runtime whenever the
// machine is busy: with three busy loops beside the gateway a reader made the 99th percentile
// of calls 30 times as long (quiet_linux.c says how threads yield).
func quietly(f func() error) error {
	runtime.LockOSThread() // what is begun belongs to the thread
	defer runtime.UnlockOSThread()
	C.quiet_begin()
	defer C.quiet_end()
	return f()
}
