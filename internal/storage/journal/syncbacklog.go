package journal

import (
	"errors"
	"time"

	"sluice/internal/kernel/background"
)

// ErrUnwritten is the error for new calls while accepted entries have waited for the disk for
// half a minute, because it fails, became read-only, or does not respond.
var ErrUnwritten = errors.New("cannot write the journal to disk")

// maxUnwritten is how long entries may wait for the disk before further calls are rejected:
// all of them are lost in a power failure, or if the file system is remounted. Disks that are
// only slow take less.
const maxUnwritten = 30 * time.Second

// unwrittenError returns ErrUnwritten if that applies. It takes no lock, because the holder
// may wait for the disk.
func (sy *syncer) unwrittenError() error {
	if since := sy.late.Load(); since != nil && time.Since(*since) >= maxUnwritten {
		return ErrUnwritten
	}
	return nil
}

// syncAndReport calls sync and reports its result.
func (sy *syncer) syncAndReport(disk *background.OutageLog) bool {
	now := time.Now()
	sy.late.CompareAndSwap(nil, &now)
	silent := time.AfterFunc(maxUnwritten, func() { disk.Failed(errSilent) })
	err := sy.sync()
	silent.Stop()
	if err != nil {
		disk.Failed(err)
		return false
	}
	sy.late.Store(nil)
	disk.Recovered()
	return true
}

var errSilent = errors.New("the disk does not respond")
