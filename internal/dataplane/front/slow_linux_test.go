package front

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"sluice/internal/wire"
)

// An answer that is far from large ends, too, when a client with little room takes
// nothing of it.
func TestNarrowReaders(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	srv := httptest.NewUnstartedServer(&Handler{scripted(func(_ context.Context, _ *wire.Request, out wire.Responder) error {
		err := out.Head(200, nil, 60<<10)
		if err == nil {
			_, err = out.Write(make([]byte, 60<<10))
		}
		ended <- err
		return err
	}), impatient})
	srv.Config.ConnState = func(nc net.Conn, at http.ConnState) {
		if tcp, ok := nc.(*net.TCPConn); ok && at == http.StateNew { // by itself it has what the system remembers of the other side
			_ = tcp.SetWriteBuffer(4 << 10)
		}
	}
	srv.Start()
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) {
			set = errors.Join(syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1),
				syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536))
		})
		return errors.Join(err, set)
	}}
	c, err := d.DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); srv.Close() })
	_, _ = io.WriteString(c, "GET /v1/x HTTP/1.1\r\nHost: gw\r\n\r\n")
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(15 * time.Second):
		t.Error("it does not end")
	}
}
