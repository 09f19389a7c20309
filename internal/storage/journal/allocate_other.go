//go:build !linux

package journal

import "os"

// readSingly does nothing here.
func readSingly([]byte) error { return nil }

// reserve reserves the blocks of a new file.
func reserve(f *os.File, size int64) error { return writeZeros(f, size) }
