package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dataDirHint is what to do where the data directory cannot be written to.
const dataDirHint = "set DATA_DIR to a directory, on a disk with free space, where this user can write every file"

// lockData keeps the data directory for one gateway at a time, and keeps the sealing
// key from being changed under a running one: what that seals under the key it knows
// could never be opened again. The kernel lets go of the lock whichever way the
// process ends. A directory that is missing is made.
func lockData(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the data directory: %w; %s", err, dataDirHint)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w; %s", err, dataDirHint)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("another process uses the data directory %s; stop that process, or choose another directory with --data-dir or DATA_DIR", dir)
		} else {
			err = fmt.Errorf("lock the data directory (DATA_DIR): %w", err)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
