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

	"sluice/internal/kernel/fault"
)

// ErrStalled is returned by Body.Read when the upstream sent nothing for longer than
// Request.IdleTimeout. errors.As finds a *fault.Error with code fault.UpstreamTimeout in it. No
// other error of this package is ErrStalled.
var ErrStalled error = stalled{}

type stalled struct{}

func (stalled) Error() string { return stalledFault.Error() }
func (stalled) Unwrap() error { return stalledFault }

var stalledFault = fault.New(fault.UpstreamTimeout, "the provider stalled in the middle of its response")

// BodyError is returned by Do when the request's own body could not be read, or ended before
// its announced length. The upstream did not cause it.
type BodyError struct{ Err error }

// Error returns the error text of the reader.
func (e *BodyError) Error() string { return "read request body: " + e.Err.Error() }

// Unwrap returns the reader's error.
func (e *BodyError) Unwrap() error { return e.Err }

// errHeadTimeout is the cause when the head did not arrive in time.
var errHeadTimeout = errors.New("no response before the timeout")

// errClosed is returned by Read after Close.
var errClosed = errors.New("transport: read of a closed body")

// cancelled wraps the error of a context that has ended.
func cancelled(err error) error { return fmt.Errorf("call upstream: %w", err) }

// noHead returns the error for a failure before the head was complete.
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

// noBody returns the error for a failure while the body is read.
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

// unreachable returns the error for a failure to connect. parent is the caller's context, t its
// limits. A failure caused by them is not attributed to the upstream.
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

// The reasons of a failed connection that a client may see. None of them contains a host.
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

// unreachableFor returns the fault of a failed connection, with its reason if known.
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

// garbage returns the error for a response that is not HTTP.
func garbage(what string) error { return invalid(errors.New(what)) }

// invalid wraps an error of another parser like garbage.
func invalid(err error) error { return fault.Wrap(fault.UpstreamInvalid, err) }
