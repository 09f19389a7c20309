package duckdb

import (
	"fmt"
	"path/filepath"
)

// usualReserve is how many MiB a disk keeps free, unless Options say otherwise. A checkpoint
// writes what is in the log of the database, 64 MB at most, and the newest row groups again.
const usualReserve = 256

// checkDiskSpace refuses to write when so little is left on the disk that a checkpoint might not find
// room. A commit that does not is undone and tried again later; a checkpoint that does not
// makes the whole database useless, for reading too, until heal opens it anew.
func (d *DB) checkDiskSpace() error {
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
