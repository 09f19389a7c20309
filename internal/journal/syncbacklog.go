package journal

import (
	"errors"
	"time"

	"sluice/internal/background"
)

// ErrUnwritten is the error for what begins while what was taken has waited for the disk for
// half a minute, since that fails, was made read-only, or does not answer.
var ErrUnwritten = errors.New("cannot write the journal to disk")

// maxUnwritten is how long entries may wait for the disk before no further call is taken:
// all of them are lost with the power, or when the file system is mounted anew. It is more
// than disks take that are only slow.
const maxUnwritten = 30 * time.Second

// unwrittenError is ErrUnwritten where that is so. It takes no lock: who holds one may wait for
// the disk.
func (j *Journal) unwrittenError() error {
	if since := j.late.Load(); since != nil && time.Since(*since) >= maxUnwritten {
		return ErrUnwritten
	}
	return nil
}

// syncAndReport is Sync, with what it meets told.
func (j *Journal) syncAndReport(disk *background.OutageLog) bool {
	now := time.Now()
	j.late.CompareAndSwap(nil, &now)
	silent := time.AfterFunc(maxUnwritten, func() { disk.Failed(errSilent) })
	err := j.Sync()
	silent.Stop()
	if err != nil {
		disk.Failed(err)
		return false
	}
	j.late.Store(nil)
	disk.Recovered()
	return true
}

var errSilent = errors.New("the disk does not respond")
