// Package datadir protects the data directory (DATA_DIR): one process at a time uses it, and that
// process must be able to read and write everything in it. Start reading at Lock.
package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Hint returns how to correct a data directory that is not writable.
const Hint = "set DATA_DIR to a directory, on a disk with free space, where this user can write every file"

// Create creates a data directory, which may exist already, with its folder for large bodies of
// requests, and fails if a part of it belongs to another user.
func Create(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "spool"), 0o700); err != nil {
		return fmt.Errorf("create the data directory: %w; %s", err, Hint)
	}
	return CheckOwner(dir)
}

// Lock locks the data directory for one gateway at a time. The lock also prevents a change of
// the sealing key under a running gateway: secrets that it seals with its old key could never be
// opened. The kernel releases the lock however the process ends, and when the caller
// closes the file. Lock creates a missing directory.
func Lock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the data directory: %w; %s", err, Hint)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w; %s", err, Hint)
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
