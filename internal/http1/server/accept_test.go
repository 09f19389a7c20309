package server_test

import (
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"sluice/internal/http1/server"
)

// failing is a listener that fails once before each connection.
type failing struct {
	net.Listener
	errs   []error
	failed bool // this time already; Serve alone accepts
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errs) > 0 && !f.failed {
		err := f.errs[0]
		f.errs, f.failed = f.errs[1:], true
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", err)}
	}
	f.failed = false
	return f.Listener.Accept()
}

// What is wrong with one connection, or passes, does not end the server.
func TestAcceptFails(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	errs := []error{
		syscall.EPROTO, syscall.EPERM, syscall.ENETDOWN, syscall.ENOPROTOOPT, syscall.EHOSTDOWN, server.OffNetwork, syscall.EHOSTUNREACH,
		syscall.EOPNOTSUPP, syscall.ENETUNREACH, syscall.ECONNABORTED, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
	}
	s := startOn(t, &failing{Listener: l, errs: errs}, echo)
	for range errs {
		if got := s.dial(t).send(get).readResponse("GET"); got.StatusCode != 200 {
			t.Fatalf("answered %d", got.StatusCode)
		}
	}
}

// An error of the listener itself does.
func TestAcceptEnds(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := startOn(t, &failing{Listener: l, errs: []error{syscall.EINVAL}}, echo)
	if err := <-s.done; !errors.Is(err, syscall.EINVAL) {
		t.Errorf("it ended with %v", err)
	}
	s.done <- http.ErrServerClosed // which the end of the test waits for
}
