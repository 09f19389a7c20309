package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"sluice/internal/kernel/fault"
)

func TestConnectReason_NamesTheKindOfFailureAlone(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"the name does not exist", &net.DNSError{Err: "no such host", Name: "secret.internal", IsNotFound: true}, "dns"},
		{"the resolver does not respond", dial(&net.DNSError{Err: "i/o timeout", Name: "secret.internal", IsTimeout: true}), "dns"},
		{"the port is closed", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "refused"},
		{"one of several addresses refuses", errors.Join(dial(syscall.ECONNREFUSED), errors.New("other")), "refused"},
		{"no route to the host", dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "network"},
		{"no route to the network", dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "network"},
		{"the connection takes too long", dial(os.ErrDeadlineExceeded), "timeout"},
		{"the context ends", fmt.Errorf("dial: %w", context.DeadlineExceeded), "timeout"},
		{"the kernel gives up", dial(os.NewSyscallError("connect", syscall.ETIMEDOUT)), "timeout"},
		{"the certificate is not trusted", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "tls"},
		{"the server does not use TLS", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "tls"},
		{"the server refuses the handshake", dial(tls.AlertError(40)), "tls"},
		{"anything else", errors.New("broken"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := connectReason(c.err); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			f := fault.From(unreachableFor(c.err))
			if f.Code != fault.UpstreamUnreachable || f.Reason != c.want {
				t.Errorf("got %s with reason %q", f.Code, f.Reason)
			}
		})
	}
}
