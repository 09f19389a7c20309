package journal

import (
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// If the disk cannot read a page of a mapped file, or the file was truncated, touching that
// page raises SIGBUS, which ends the process. As long as the file exists, every later process
// would end too. So files of earlier runs are read with fault recovery, and callers, including
// C code, get a copy. In a file of this run such a page ends the process, because an
// acknowledged entry would be missing.

// withFaultRecovery calls access, which touches the memory of s and may be restarted. If a
// page is missing, it is replaced with zeros and access is called again.
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

// blank replaces the page that contains an address with zeros. It returns false if the address
// is not in s, or the system cannot provide a page.
func (s *segment) blank(addr uintptr) bool {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))
	if addr < begin || addr-begin >= uintptr(len(s.data)) {
		return false
	}
	page := unsafe.Pointer(&s.data[int64(addr-begin)&^(pageBytes-1)])
	_, err := unix.MmapPtr(-1, 0, page, uintptr(pageBytes), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED)
	return err == nil
}
