package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// readSingly makes the kernel load touched pages one at a time, for the same reason as
// writeZeros, and because a journal is read where it was just written.
func readSingly(b []byte) error { return unix.Madvise(b, unix.MADV_RANDOM) }

// reserve reserves the blocks of a new file, quickly if the file system supports that.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return writeZeros(f, size)
	}
	return err
}
