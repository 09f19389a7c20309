package export

import (
	"context"
	"errors"
	"syscall"
)

// errStopped reports that a user stopped the run, or that its workspace was deleted.
var errStopped = errors.New("the export was stopped")

// cause is an error that ends a run permanently, with the message for users.
type cause struct {
	message string
	err     error
}

// Error returns the text for the program's log.
func (c *cause) Error() string { return c.message + ": " + c.err.Error() }

// Unwrap returns the underlying error.
func (c *cause) Unwrap() error { return c.err }

// disk returns the cause of a failed write of the file.
func (r *run) disk(err error) error {
	reported := "cannot write the file; the gateway log contains the reason"
	switch {
	case errors.Is(err, ErrDiskSpace):
		reported = "the export files of this node have reached their limit (LOG_EXPORT_MAX_MB); download and wait until old files are deleted, or export fewer rows"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		reported = "the disk is full"
	}
	return &cause{reported, err}
}

// log returns the cause of a failed read of the request log, unless the gateway is stopping.
func (r *run) log(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &cause{"cannot read the request log; the gateway log contains the reason", err}
}
