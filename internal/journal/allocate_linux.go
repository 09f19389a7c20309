package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// populate brings pages in for writing, those that the kernel no longer has in few reads.
func populate(b []byte) error {
	return errors.Join(unix.Madvise(b, unix.MADV_WILLNEED), unix.Madvise(b, unix.MADV_POPULATE_WRITE))
}

// readSingly has pages that are touched come alone, for the reason that writeZeros has, and
// because a journal is read where it was just written.
func readSingly(b []byte) error { return unix.Madvise(b, unix.MADV_RANDOM) }

// reserve finds the blocks of a new file quickly where the file system can.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return writeZeros(f, size)
	}
	return err
}
