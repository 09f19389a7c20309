package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate reserves the blocks of a new file, by writing zeros where the file
// system cannot do it otherwise.
func allocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return writeZeros(f, size)
	}
	return err
}
