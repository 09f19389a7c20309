package duckdb

import (
	"fmt"
	"path/filepath"
)

// usualReserve is how many MiB of the disk remain free by default. A checkpoint writes the log of
// the database, 64 MB at most, and the newest row groups again.
const usualReserve = 256

// checkDiskSpace rejects a write if a checkpoint might lack disk space. A commit without space is
// rolled back and tried again later. A checkpoint without space makes the complete database
// unusable, for reading too, until reopen opens it again.
func (d *database) checkDiskSpace() error {
	if d.o.ReserveMB < 0 {
		return nil
	}
	free, err := freeBytes(filepath.Dir(d.o.Path))
	if err != nil {
		return fmt.Errorf("write log database: read free disk space: %w", err)
	}
	if need := int64(d.o.ReserveMB) << 20; free < need {
		return fmt.Errorf("write log database: %d MiB of disk space are free, but %d are reserved (LOG_DISK_RESERVE_MB); free disk space", free>>20, d.o.ReserveMB)
	}
	return nil
}
