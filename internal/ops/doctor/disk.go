package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"sluice/internal/ops/datadir"
)

// freeSpaceMin is the free disk space of the data directory, in bytes, below which doctor warns:
// the journal preallocates its files.
const freeSpaceMin = 1 << 30

// Disk checks that the data directory can be used and has free space. It creates a missing one.
type Disk struct{ Dir string }

// Run implements Check.
func (c Disk) Run(context.Context) []Finding { return []Finding{c.check()} }

func (c Disk) check() Finding {
	f := Finding{Subject: "disk", Hint: datadir.Hint}
	if f.Err = os.MkdirAll(c.Dir, 0o700); f.Err != nil {
		return f
	}
	probe, err := os.CreateTemp(c.Dir, "doctor-")
	if err != nil {
		f.Err = err
		return f
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		f.Err = err
		return f
	}
	if err := datadir.CheckOwner(c.Dir); err != nil {
		f.Err, f.Hint = err, ""
		return f
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(c.Dir, &fs); err != nil {
		f.Err = err
		return f
	}
	free := int64(fs.Bavail) * int64(fs.Bsize)
	if free < freeSpaceMin {
		f.Err = fmt.Errorf("only %d MiB are free in %s", free>>20, c.Dir)
	}
	f.Detail = fmt.Sprintf("%s is writable, %d GiB are free", c.Dir, free>>30)
	return f
}
