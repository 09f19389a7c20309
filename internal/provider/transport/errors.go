package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
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

var stalledFault = fault.New(fault.UpstreamTimeout, "the provider stalled in the middle of its response")

// BodyError is returned by Do when the request's own body could not be read, or
// ended before its announced length. The upstream is not to blame.
type BodyError struct{ Err error }

// Error tells the reader's error.
func (e *BodyError) Error() string { return "read request body: " + e.Err.Error() }

// Unwrap returns the reader's error.
func (e *BodyError) Unwrap() error { return e.Err }

// errHeadTimeout is the cause behind a missing head.
var errHeadTimeout = errors.New("no response before the timeout")

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
		return fault.Wrap(fault.UpstreamTimeout, err).WithReason(reasonTimeout)
	}
	return unreachableFor(err)
}

// The reasons of a failed connection that a client may learn. None of them names a host.
const (
	reasonDNS     = "dns"
	reasonRefused = "refused"
	reasonTLS     = "tls"
	reasonTimeout = "timeout"
	reasonNetwork = "network"
)

// reasonTexts complete the public text of a failure to connect.
var reasonTexts = map[string]string{
	reasonDNS:     "its host name does not resolve",
	reasonRefused: "it refuses connections",
	reasonTLS:     "TLS handshake failed",
	reasonTimeout: "connection timeout",
	reasonNetwork: "no route to the host",
}

// unreachableFor makes the fault of a failed connection, with its reason when that is known.
func unreachableFor(err error) error {
	f := fault.Wrap(fault.UpstreamUnreachable, err)
	reason := connectReason(err)
	if reason == "" {
		return f
	}
	f.Public = f.Text() + ": " + reasonTexts[reason]
	return f.WithReason(reason)
}

// connectReason classifies an error of resolving, dialling or the TLS handshake.
func connectReason(err error) string {
	var (
		name   *net.DNSError
		record tls.RecordHeaderError
		alert  tls.AlertError
		cert   *tls.CertificateVerificationError
		slow   net.Error
	)
	switch {
	case errors.As(err, &name):
		return reasonDNS
	case errors.As(err, &record), errors.As(err, &alert), errors.As(err, &cert):
		return reasonTLS
	case errors.Is(err, syscall.ECONNREFUSED):
		return reasonRefused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return reasonNetwork
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return reasonTimeout
	}
	return ""
}

// garbage is an answer that is not HTTP.
func garbage(what string) error { return invalid(errors.New(what)) }

// invalid is garbage that somebody else found.
func invalid(err error) error { return fault.Wrap(fault.UpstreamInvalid, err) }
