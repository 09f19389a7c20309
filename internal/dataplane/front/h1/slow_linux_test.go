package h1_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"sluice/internal/dataplane/front/h1"
	"sluice/internal/wire"
)

// narrow opens a connection of a client that takes next to nothing until it is read.
func (r *running) narrow(t testing.TB) net.Conn {
	t.Helper()
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) {
			set = errors.Join(syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1),
				syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536))
		})
		return errors.Join(err, set)
	}}
	nc, err := d.DialContext(t.Context(), "tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	return nc
}

// short is a listener whose connections have little room for what is written: how much they
// have by themselves depends on what the system remembers of the other side.
type short struct{ net.Listener }

func (l short) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if tcp, ok := nc.(*net.TCPConn); ok {
		err = errors.Join(err, tcp.SetWriteBuffer(4<<10))
	}
	return nc, err
}

func shortOf(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return short{l}
}

// An answer that is far from large ends, too, when a client with little room takes
// nothing of it.
func TestNarrowReaders(t *testing.T) {
	t.Parallel()
	for name, pieces := range map[string][]int{"one piece": {60 << 10}, "small pieces": make([]int, 60)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			s := startOn(t, shortOf(t), func(_ context.Context, _ *wire.Request, out wire.Responder) error {
				err := out.Head(200, nil, -1)
				for i := 0; i < len(pieces) && err == nil; i++ {
					if _, err = out.Write(make([]byte, max(pieces[i], 1<<10))); err == nil {
						err = out.Flush()
					}
				}
				ended <- err
				return err
			}, func(s *h1.Server) { s.Patience.Stall = 200 * time.Millisecond })
			_, _ = io.WriteString(s.narrow(t), get)
			select {
			case err := <-ended:
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(15 * time.Second):
				t.Error("it does not end")
			}
		})
	}
}
