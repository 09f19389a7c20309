package export

import (
	"context"
	"errors"
	"syscall"
)

// errStopped is that somebody stopped the run, or that its workspace is gone.
var errStopped = errors.New("the export was stopped")

// cause is an error that ends a run for good, with what people are told.
type cause struct {
	message string
	err     error
}

// Error is for the log of the program.
func (c *cause) Error() string { return c.message + ": " + c.err.Error() }

// Unwrap is what was behind it.
func (c *cause) Unwrap() error { return c.err }

// disk is why the file could not be written, in words for people.
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

// log is why the request log could not be read, unless the gateway is stopping.
func (r *run) log(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &cause{"cannot read the request log; the gateway log contains the reason", err}
}
