package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// populate brings pages in for writing.
func populate(b []byte) error { return unix.Madvise(b, unix.MADV_POPULATE_WRITE) }

// reserve finds the blocks of a new file quickly where the file system can.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return writeZeros(f, size)
	}
	return err
}
