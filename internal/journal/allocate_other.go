//go:build !linux

package journal

import (
	"errors"
	"os"
)

// populate cannot be had here.
func populate([]byte) error { return errors.ErrUnsupported }

// readSingly has nothing to say here.
func readSingly([]byte) error { return nil }

// reserve finds the blocks of a new file.
func reserve(f *os.File, size int64) error { return writeZeros(f, size) }
