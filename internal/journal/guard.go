package journal

import (
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A page of a mapped file that the disk does not give, or that is gone because somebody cut
// the file short, is a SIGBUS for whoever touches it, which ends the process; and as long as
// the file is there, every next one too. So files of earlier runs are looked at under a guard,
// and what is handed on, to C as well, is a copy. Of a file of this run such a page ends the
// process: an entry that was answered for would not be on record.

// withFaultRecovery calls look, which touches the memory of s and may be begun anew: behind a page that
// is not there it is called again, with zeros in the place of that page.
func (s *segment) withFaultRecovery(access func()) {
	for !s.tried(access) {
	}
}

func (s *segment) tried(access func()) (done bool) {
	if s.live {
		access()
		return true
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			if !s.blank(fault.Addr()) {
				panic(fault)
			}
		default:
			panic(fault)
		}
	}()
	access()
	return true
}

// blank puts zeros in the place of the page that an address is in; false when it is none of s,
// or the system has no page to give.
func (s *segment) blank(addr uintptr) bool {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))
	if addr < begin || addr-begin >= uintptr(len(s.data)) {
		return false
	}
	page := unsafe.Pointer(&s.data[int64(addr-begin)&^(pageBytes-1)])
	_, err := unix.MmapPtr(-1, 0, page, uintptr(pageBytes), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED)
	return err == nil
}
