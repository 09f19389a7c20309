package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"sluice/internal/fault"
)

// ErrStalled is returned by Body.Read when the upstream was silent for longer
// than Request.IdleTimeout. Errors.As finds a *fault.Error with code
// fault.UpstreamTimeout in it; no other error of this package is ErrStalled.
var ErrStalled error = stalled{}

type stalled struct{}

func (stalled) Error() string { return stalledFault.Error() }
func (stalled) Unwrap() error { return stalledFault }

var stalledFault = fault.New(fault.UpstreamTimeout, "the provider stopped sending in the middle of its answer")

// BodyError is returned by Do when the request's own body could not be read, or
// ended before its announced length. The upstream is not to blame.
type BodyError struct{ Err error }

// Error tells the reader's error.
func (e *BodyError) Error() string { return "read request body: " + e.Err.Error() }

// Unwrap returns the reader's error.
func (e *BodyError) Unwrap() error { return e.Err }

// errHeadTimeout is the cause behind a missing head.
var errHeadTimeout = errors.New("no answer within the time allowed")

// errClosed is returned by Read after Close.
var errClosed = errors.New("transport: read of a closed body")

// cancelled wraps the error of a context that has ended.
func cancelled(err error) error { return fmt.Errorf("call upstream: %w", err) }

// noHead is a failure before the head was complete.
func noHead(err error) error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return f
	case timedOut(err):
		return fault.Wrap(fault.UpstreamTimeout, errHeadTimeout)
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fault.Wrap(fault.UpstreamFailed, err)
}

// noBody is a failure while the body is read.
func noBody(err error) error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return f
	case timedOut(err):
		return ErrStalled
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fault.Wrap(fault.UpstreamFailed, err)
}

// timedOut reports whether a deadline of the connection has passed.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// unreachable is a failure to connect. Parent is the caller's context, t its
// limits; what ended because of them is not the upstream's failure.
func unreachable(parent context.Context, t timing, err error) error {
	if ended := parent.Err(); ended != nil {
		return cancelled(ended)
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	if !t.limit.IsZero() && !time.Now().Before(t.limit) {
		return fault.Wrap(fault.UpstreamTimeout, err)
	}
	return fault.Wrap(fault.UpstreamUnreachable, err)
}

// garbage is an answer that is not HTTP.
func garbage(what string) error { return invalid(errors.New(what)) }

// invalid is garbage that somebody else found.
func invalid(err error) error { return fault.Wrap(fault.UpstreamInvalid, err) }
