package h1_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"sluice/internal/wire"
)

// waits answers when its request's context ends or it is told to, and says which.
func waits(started chan<- struct{}, ended chan<- error, tell <-chan struct{}) scripted {
	return func(ctx context.Context, in *wire.Request, out wire.Responder) error {
		if in.Body != nil {
			if _, err := io.Copy(io.Discard, in.Body); err != nil {
				return err
			}
		}
		started <- struct{}{}
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
			return ctx.Err()
		case <-tell:
			ended <- nil
			return answer(out, []byte("ok"))
		}
	}
}

// A call ends soon after its client has left, in whatever way, although nothing is
// written to it.
func TestHangUp(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(net.Conn){
		"close":      func(c net.Conn) { _ = c.Close() },
		"reset":      func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); _ = c.Close() },
		"half close": func(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() },
	} {
		for kind, text := range map[string]string{"": get, " behind a body": post("/v1/x", "hello")} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				ended := make(chan error, 1)
				started := make(chan struct{})
				s := start(t, waits(started, ended, nil))
				c := s.dial(t).send(text)
				<-started
				leave(c.Conn)
				began := time.Now()
				select {
				case err := <-ended:
					if err == nil {
						t.Error("the call ended by itself")
					}
				case <-time.After(5 * time.Second):
					t.Error("the call goes on")
				}
				if took := time.Since(began); took > time.Second { // 0.1 s on a machine with time
					t.Errorf("it took %s", took)
				}
			})
		}
	}
}

// A call goes on while its client waits, also when it has sent its next request, and that
// is served.
func TestNoHangUp(t *testing.T) {
	t.Parallel()
	started, ended, tell := make(chan struct{}), make(chan error, 1), make(chan struct{})
	s := start(t, waits(started, ended, tell))
	c := s.dial(t).send(get)
	<-started
	time.Sleep(150 * time.Millisecond) // longer than between two looks
	c.send(get)
	_ = c.Conn.(*net.TCPConn).CloseWrite() // hides behind the second request
	time.Sleep(150 * time.Millisecond)
	select {
	case err := <-ended:
		t.Fatalf("the call ended: %v", err)
	case tell <- struct{}{}:
	}
	if got := c.reply("GET"); got.text != "ok" {
		t.Errorf("%q", got.text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-started
	if err := <-ended; err == nil { // now the end shows
		t.Error("the second call ended by itself")
	}
}

// Clients are looked after again when a server has slept for want of any.
func TestHangUpAfterSleep(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan error, 1)
	s := start(t, waits(started, ended, nil))
	for range 2 {
		time.Sleep(1200 * time.Millisecond) // by then nobody looks
		c := s.dial(t).send(get)
		<-started
		_ = c.Close()
		if err := <-ended; err == nil {
			t.Error("the call ended by itself")
		}
	}
}
