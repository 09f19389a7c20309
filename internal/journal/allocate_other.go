//go:build !linux

package journal

import "os"

// allocate reserves the blocks of a new file.
func allocate(f *os.File, size int64) error { return writeZeros(f, size) }
